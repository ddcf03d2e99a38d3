# Everything runs in .venv, which the first target that needs it creates.
#
#   make train            set up, train configs/quick.yaml, end with the table against the bots
#   make strong           train the shipped policy: the three parts of its recipe, in some hours
#   make test             set up, run the tests
#   make slow             the slow tests
#   make coverage         make test, and what it leaves out; the engine must be covered whole
#   make matrix           the tests on every Python and NumPy that is supported
#   make lint             ruff
#   make types            mypy
#   make docs             the documentation as a site, in site/
#   make dist             a release: source distribution and wheel, in dist/
#   make audit            whether a dependency has a known hole
#   make clean            remove .venv and the caches (never runs/)
#
# PYTHON     the Python to make .venv with (3.10 or newer):     make test PYTHON=python3.12
# PIP_ARGS   further arguments for pip                          make train PIP_ARGS=--no-cache-dir
# ARGS       further arguments for train.py or pytest:          make train ARGS="--seed 3"
# CONFIG     the training configuration                         make train CONFIG=configs/quick.yaml
# WORKERS    processes that run the tests                       make test WORKERS=8
# PYTHONS    for make matrix, versions or paths                 make matrix PYTHONS="3.12 3.13"

PYTHON ?= python3
PIP_ARGS ?=
ARGS ?=
CONFIG ?= configs/quick.yaml
WORKERS ?= 2
PYTHONS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Each test process keeps to one thread: the processes are what uses the cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS)
# What plays the game: all of it is tested, every line and both ways of every branch.
ENGINE := cards runs melds rules decks state legality engine view uniform

.PHONY: help setup train strong test slow coverage matrix lint format types docs dist audit clean
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

# A part that is done is left alone, one that was begun goes on.
strong: $(STAMP)
	for part in strong strong-2 strong-3; do \
	  test ! -e runs/$$part/results.json || continue; \
	  if test -e runs/$$part; then $(BIN)/python train.py --resume runs/$$part $(ARGS); \
	  else $(BIN)/python train.py --config configs/$$part.yaml $(ARGS); fi || exit 1; \
	done

test: $(STAMP)
	$(PYTEST) $(ARGS)

slow: $(STAMP)
	$(PYTEST) -m slow $(ARGS)

coverage: $(STAMP)
	$(MAKE) test ARGS="--cov --cov-report= $(ARGS)"
	$(BIN)/python -m coverage report
	$(BIN)/python -m coverage report --fail-under=100 \
	  --include="$$(printf ',ginenv/%s.py' $(ENGINE) | cut -c2-)"

matrix: $(STAMP)
	$(BIN)/python tests/compat/pythons.py $(PYTHONS) $(ARGS)

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

dist: $(STAMP)
	rm -rf dist
	$(BIN)/python -m build

# In an environment of its own, which has what a user gets and pip-audit beside it.
audit:
	$(PYTHON) -m venv --clear build/audit
	build/audit/bin/pip install -q $(PIP_ARGS) pip-audit
	build/audit/bin/pip-audit --strict --disable-pip --no-deps -r constraints.txt

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
