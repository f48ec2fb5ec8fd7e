# Each target makes its own virtual environment and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A test process spends most of its time in Python, on one core; a file's tests share a process.
PARALLEL := --numprocesses 2 --dist loadfile
export TF_CPP_MIN_LOG_LEVEL ?= 3

.PHONY: demo test test-all lint system-deps clean help

help:            ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[cpu,phonemes,eval,test]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps Resemblyzer==0.1.4
	@touch $@

demo: $(VENV)/installed   ## corpus → training on two virtual devices → speech, in demo/
	$(BIN)/myxtts demo

test: $(VENV)/installed lint  ## what CI runs: under 10 minutes on 2 cores
	$(BIN)/python -m pytest $(PARALLEL) -m "not long"

test-all: $(VENV)/installed lint  ## every test, the long ones too
	$(BIN)/python -m pytest $(PARALLEL)

lint: $(VENV)/installed   ## ruff, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

system-deps:     ## Debian packages that some long tests use (browser, flite)
	apt-get update && apt-get install -y --no-install-recommends chromium flite sox

clean:           ## remove what the targets made
	rm -rf $(VENV) demo build *.egg-info
