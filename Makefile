# Everything runs in .venv, which the first target that needs it creates.
#
#   make train            set up, train configs/quick.yaml, end with the table against the bots
#   make test             set up, run the tests
#   make slow             the slow tests
#   make lint             ruff
#   make types            mypy
#   make docs             the documentation as a site, in site/
#   make clean            remove .venv and the caches (never runs/)
#
# PYTHON     the Python to make .venv with (3.10 or newer):     make test PYTHON=python3.12
# PIP_ARGS   further arguments for pip                          make train PIP_ARGS=--no-cache-dir
# ARGS       further arguments for train.py or pytest:          make train ARGS="--seed 3"
# CONFIG     the training configuration                         make train CONFIG=configs/quick.yaml
# WORKERS    processes that run the tests                       make test WORKERS=8

PYTHON ?= python3
PIP_ARGS ?=
ARGS ?=
CONFIG ?= configs/quick.yaml
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Each test process keeps to one thread: the processes are what uses the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS)

.PHONY: help setup train test slow lint format types docs clean
.DEFAULT_GOAL := help

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "ginenv needs Python 3.10 or newer and '$(PYTHON)' is not: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(PIP_ARGS) -c constraints.txt -e '.[dev]'
	@touch $@

train: $(STAMP)
	$(BIN)/python train.py --config $(CONFIG) $(ARGS)

test: $(STAMP)
	$(PYTEST) $(ARGS)

slow: $(STAMP)
	$(PYTEST) -m slow $(ARGS)

lint: $(STAMP)
	$(BIN)/python -m ruff check .

format: $(STAMP)
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

types: $(STAMP)
	$(BIN)/python -m mypy

docs: $(STAMP)
	$(BIN)/python -m pip install -q $(PIP_ARGS) -c constraints.txt -e '.[docs]'
	$(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
