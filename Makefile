# make demo    installs, builds the sample corpus, asks it a question
# make ui      opens Dagster's web interface on it (http://127.0.0.1:3000)
# make test    the tests, but the slow ones      make test-slow   those
# make test-endurance   minutes: 200 builds killed at random instants, thousands of searches during builds
# make check   lint, types, tests                make format      writes the format
# make clean   removes what was installed and built
#
# Everything is installed into .venv, with the versions of constraints.txt, once: later runs need no network.
#   PYTHON=python3.12         the interpreter that .venv is made with (3.11 or later)
#   TORCH_INDEX=URL           a package index to take PyTorch from. PyTorch's own index of CPU builds saves two
#                             gigabytes of CUDA libraries on Linux, where the usual index has builds for GPUs alone
#   TEST="-q -n 2"            arguments for pytest

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo ui install install-dev test test-slow test-endurance check lint types format clean

PYTHON ?= python3
TORCH_INDEX ?=
TEST ?= -q -n 2

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

define QUERY
SELECT heading_trail, tokens, content FROM handbook.chunks WHERE list_contains(kinds, 'table') ORDER BY tokens DESC LIMIT 3
endef

demo: $(INSTALLED)
	@echo "== linkrag build handbook: every document of data/handbook, stage by stage"
	$(BIN)/linkrag build handbook
	@echo
	@echo "== linkrag status handbook: what is stored, counted from the files"
	$(BIN)/linkrag status handbook
	@echo
	@echo "== linkrag search handbook: an answer is quotes, with the place that each comes from"
	$(BIN)/linkrag search handbook "Why are two ranked lists fused by rank and not by score?" -k 2
	$(BIN)/linkrag search handbook "E0412" --mode bm25 -k 1
	$(BIN)/linkrag search handbook "问题要在看到结果之前写好吗？" --mode dense -k 1
	@echo "== linkrag plan handbook: what a second build would do"
	$(BIN)/linkrag plan handbook
	@echo
	@echo "== linkrag evaluate handbook: its own questions, asked of three retrievers, with 95 % intervals"
	$(BIN)/linkrag evaluate handbook
	@echo
	@echo "The tables are views in $(CURDIR)/data/lake/warehouse.duckdb. A query to paste into any DuckDB client:"
	@echo
	@echo "  $(QUERY);"
	@echo
	@echo "or, without one:"
	@echo
	@echo "  $(BIN)/python -c \"import duckdb; duckdb.connect('data/lake/warehouse.duckdb', read_only=True).sql('FROM handbook.documents').show()\""
	@echo
	@echo "Next:"
	@echo "  make ui                                         the same graph in Dagster: http://127.0.0.1:3000"
	@echo "  $(BIN)/linkrag init mine --source FOLDER   declares a corpus of your own"

# The instance of `linkrag build`, so that its runs are seen; `linkrag build` makes it where it is missing.
ui: $(INSTALLED)
	@mkdir -p .dagster
	@test -f .dagster/dagster.yaml || cp dagster.yaml .dagster/dagster.yaml
	DAGSTER_HOME="$(CURDIR)/.dagster" $(BIN)/dagster dev

install: $(INSTALLED)
install-dev: $(INSTALLED_DEV)

$(BIN)/python:
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# PyTorch alone and first where an index is given for it, so that this index is asked for nothing else.
$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/python
ifneq ($(TORCH_INDEX),)
	@echo "== installing PyTorch from $(TORCH_INDEX)"
	$(PIP) install --quiet --constraint constraints.txt --no-deps --index-url "$(TORCH_INDEX)" torch
endif
	@echo "== installing linkrag and Dagster's interface (minutes, once)"
	$(PIP) install --quiet --constraint constraints.txt --editable ".[ui]"
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	@echo "== installing what tests and checks need"
	$(PIP) install --quiet --constraint constraints.txt --editable ".[ui,dev]"
	@touch $@

test: $(INSTALLED_DEV)
	$(BIN)/python -m pytest $(TEST)

test-slow: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -m slow $(TEST)

test-endurance: $(INSTALLED_DEV)
	$(BIN)/python -m pytest -m endurance $(TEST)
	$(BIN)/python -m tests.crash.harness --rounds 200

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED_DEV)
	$(BIN)/pyright --pythonpath $(BIN)/python

check: lint types test

format: $(INSTALLED_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .dagster .tmp_dagster_home_* data/lake build dist .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
