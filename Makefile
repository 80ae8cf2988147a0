# Every target sets itself up first (scripts/setup); nothing has to be installed by hand.
PYTHON := .venv/bin/python
PYTEST := $(PYTHON) -m pytest
# Test processes. Each holds torch and a renderer: count on 2 GB apiece.
JOBS ?= 2
# Passed on to `simreal demo` and to the benchmarks, e.g. make demo ARGS="--out results".
ARGS ?=
.DEFAULT_GOAL := help

# One thread a process: more only slows two processes on two cores.
test test-slow check: export OMP_NUM_THREADS := 1
test test-slow check: export OPENBLAS_NUM_THREADS := 1
test test-slow check: export MKL_NUM_THREADS := 1

.PHONY: help setup demo test test-slow check bench

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

setup: ## make .venv; every other target does so first
	@scripts/setup

demo: setup ## run the built-in study and write its report (ARGS are passed on)
	.venv/bin/simreal demo $(ARGS)

test: setup ## run the tests, except the slow ones
	$(PYTEST) -n $(JOBS) --dist worksteal

test-slow: setup ## run the slow tests (one at a time: some of them measure speed)
	$(PYTEST) -m slow --ignore tests/smoke

check: setup ## formatting, lint, types, import contracts, and the built wheel in a fresh environment
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(PYTEST) -m slow tests/smoke

bench: setup ## measure speed, beside peers in their own environments (ARGS are passed on)
	$(PYTHON) benchmarks $(ARGS)
