#!/usr/bin/env bash
# What a user has: the wheel alone, in a fresh environment, in a folder that has nothing to do with this repository.
# Usage: tests/end_to_end/wheel_check.sh [PYTHON]   (default: the repository's .venv, for the interpreter alone)
set -euo pipefail
repository="$(cd "$(dirname "$0")/../.." && pwd)"
python="${1:-$repository/.venv/bin/python}"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
unset DAGSTER_HOME LINKRAG_LAKE PYTHONPATH

echo "== build the wheel"
"$python" -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir "$place/dist" "$repository"
wheel="$(echo "$place"/dist/linkrag_dagster-*.whl)"
"$python" - "$wheel" <<'PY'
import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
foreign = [name for name in names if not name.startswith("linkrag_dagster")]
assert not foreign, f"the wheel holds more than the package: {foreign[:5]}"
assert any(name.endswith("licenses/LICENSE") for name in names), "the wheel lacks its licence"
assert any(name.endswith("/py.typed") for name in names), "the wheel lacks py.typed"
PY

echo "== install it in a fresh environment"
"$python" -m venv "$place/venv"
"$place/venv/bin/python" -m pip --disable-pip-version-check install --quiet \
    --constraint "$repository/constraints.txt" "$wheel"

echo "== init, build, plan, search"
mkdir -p "$place/work/docs"
cat > "$place/work/docs/tide.md" <<'MD'
# Tide tables

## Spring tides

The highest water of the month comes two days after the full moon, when the harbour gate stays closed.
MD
cat > "$place/work/docs/bread.md" <<'MD'
# Bread

Rye loaves are baked on Tuesdays with caraway and a spoon of treacle.
MD
cd "$place/work"
linkrag="$place/venv/bin/linkrag"
"$linkrag" init mine --source docs
"$linkrag" build mine --json > build.json
code=0
"$linkrag" plan mine --json > plan.json || code=$?
[ "$code" -eq 0 ] || { echo "plan after a build: exit $code, expected 0 (nothing to do)"; cat plan.json; exit 1; }
"$linkrag" search mine "When does the harbour gate stay closed?" --json > search.json
"$place/venv/bin/python" - <<'PY'
import json, pathlib
build = json.loads(pathlib.Path("build.json").read_text())
rows = build["corpora"]["mine"]["stages"]["raw_documents"]["rows"]
assert rows == 2, f"raw_documents has {rows} rows, expected 2"
assert build["embedded_texts"] >= 2, build
answer = json.loads(pathlib.Path("search.json").read_text())
first = answer["citations"][0]
assert first["doc_name"].endswith("tide.md"), first
assert "two days after the full moon" in first["quote"], first
print("== the wheel works: built", rows, "documents, found", first["doc_name"])
PY
