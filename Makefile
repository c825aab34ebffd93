# Targets explain themselves: `make help`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ENGINE := $(VENV)/.installed-engine

.DEFAULT_GOAL := help
.PHONY: help run test lint oracle bench clean

help: ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

# pip reads constraints.txt, so a fresh machine gets the versions that were tested.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "deskagent needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# The embedded model's libraries are large (torch), so only what needs them installs them.
$(ENGINE): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,engine]'
	@touch $@

run: $(STAMP) ## set up, make an example repository with a bug in it, and repair it
	$(BIN)/python assets/example/run.py

test: $(ENGINE) ## set up and run all tests (other people's answers as they were frozen)
	$(BIN)/python -m pytest -n auto -q

lint: $(ENGINE) ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

oracle: ## checks against other people's code, in environments of their own (.oracle/)
	@PYTHON=$(PYTHON) tests/oracle/run

bench: $(ENGINE) ## benchmarks: ratios, side by side in one run
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/verify.py
	$(BIN)/python bench/index.py
	$(BIN)/python bench/cases/check.py
	bench/repair bench/cases --seconds 60 --json bench/out/cases.json

clean: ## remove what was set up
	rm -rf $(VENV) .oracle .pytest_cache .ruff_cache
