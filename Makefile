PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint fix results docs build lanes install install-core clean

CODE := src tests benchmarks examples docs .ci

demo: install-core  ## Align a built-in pair of graphs and show the result
	$(BIN)/largeea demo -o runs/demo

test: install  ## Run all tests
	$(BIN)/python -m pytest -n 2

lint: install  ## Style and types
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

fix: install  ## Mend style where a machine can
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

results: install-core  ## Write docs/results.md from the folders of docs/results
	$(BIN)/python benchmarks/results_page.py

docs: $(VENV)/docs  ## Check spelling and build the documentation site; warnings are errors
	$(BIN)/codespell *.md docs examples src
	$(BIN)/python -m sphinx -E -W --keep-going --quiet -b html docs dist/docs
	@echo "Open dist/docs/index.html"

build: $(VENV)/docs  ## Make the source distribution and the wheel
	$(BIN)/python -m hatchling build

lanes: install-core  ## Tests with the oldest and the newest dependencies, without extras, on every Python here
	$(BIN)/python .ci/lanes.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "LargeEA needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/core: $(BIN)/python pyproject.toml requirements.lock
	$(BIN)/python -m pip install --quiet --constraint requirements.lock --editable .
	@touch $@

# torch goes first and alone: its exact version decides which build the rest is content with.
$(VENV)/everything: $(BIN)/python pyproject.toml requirements.lock
	$(BIN)/python -m pip install --quiet "$$(grep '^torch==' requirements.lock)"
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@ $(VENV)/core

# What builds the site and the packages is no part of the program or its tests.
$(VENV)/docs: $(VENV)/core requirements-docs.lock
	$(BIN)/python -m pip install --quiet --requirement requirements-docs.lock --constraint requirements.lock
	@touch $@

install-core: $(VENV)/core

install: $(VENV)/everything

clean:
	rm -rf $(VENV) runs .mypy_cache .ruff_cache .pytest_cache .hypothesis
