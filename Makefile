PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help run test lint types check docs clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[data,postgres]' mypy pytest ruff types-jsonschema types-PyYAML
	$(BIN)/python -m compileall -q reeval
	@touch $@

run: $(READY) ## Run the example evals, offline
	$(BIN)/reeval run

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest

lint: $(READY) ## Check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY) ## Check types
	$(BIN)/mypy

check: lint types test ## Everything that CI checks

docs: $(READY) ## Write the generated pages
	$(BIN)/python docs/generate.py

clean: ## Remove the virtual environment and the records
	rm -rf $(VENV) .reeval
