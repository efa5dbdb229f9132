"""`linkrag init`: a corpus declared in a minute."""

from __future__ import annotations

from pathlib import Path

import click

from linkrag_dagster.cli.console import USAGE, as_json, ends_clearly, print_json, say, stop


@click.command()
@click.argument("name")
@click.option(
    "--source", "source", required=True, type=click.Path(), help="The folder that holds the documents."
)
@as_json
@ends_clearly
def init(name: str, source: str, json_output: bool) -> None:
    """Declare a corpus: write assets/NAME/defs.yaml, commented, valid, ready to build."""
    from linkrag_dagster.declaration import check_name, find_root, load_declaration, starter

    check_name(name)
    folder = Path(source).expanduser()
    if not folder.is_dir():
        stop(USAGE, f"{folder}: not a folder; --source names the folder that holds the documents")
    # The nearest project upwards: a subfolder of one declares into it.
    root = find_root(Path.cwd())
    path = root / "assets" / name / "defs.yaml"
    if path.exists():
        stop(USAGE, f"{path}: exists already; edit it, or take another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(starter(name, folder, root), encoding="utf-8")
    load_declaration(path)
    if json_output:
        print_json({"declaration": str(path)})
    else:
        click.echo(str(path))
        say(f"next: linkrag build {name}")
