# Every target does its own set-up; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
# Python compiles what is imported; compiling every installed module takes a minute.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# Where this is set, every process of the tests would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow coverage check bench docs browser kernels clean

demo: $(READY)
	$(BIN)/topkit demo --out topkit-demo

# The order is that of tests/conftest.py: the longest files first, so that no process is idle at the end.
PYTEST := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

# Measuring coverage doubles the time of the tests on Python 3.11 and costs little from 3.12 on.
MONITORED = $(shell $(BIN)/python -c "import sys; print('yes' if sys.version_info >= (3, 12) else '')")
COVERAGE = --cov --cov-report=term

# The kernels take longest, so they start first.
test: $(DEV)
	$(MAKE) --jobs=2 --output-sync=target kernels check docs browser
	COVERAGE_CORE=sysmon $(PYTEST) -m "not slow" --durations=30 $(if $(MONITORED),$(COVERAGE))

# The same tests, with coverage on any version of Python.
coverage: $(DEV) browser kernels
	$(PYTEST) -m "not slow" $(COVERAGE)

# The tests that take more than ten seconds each: studies, kills, fuzzing of what once failed, long pages.
test-slow: $(DEV) browser
	$(PYTEST) -m slow

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(DEV)
	$(PIP) -e '.[bench]'
	$(BIN)/python -m bench

docs: $(DEV)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[plots,text]'
	touch $@

$(DEV): $(READY)
	$(PIP) -e '.[dev,docs]'
	touch $@

# Compiled once, so that the test processes need not compile the same kernels side by side.
kernels: $(DEV)
	$(BIN)/topkit warm-up

# The browser tests need a Chromium, the proxy tests an nginx; Debian's are enough, and nothing is installed
# where there is one.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -qq -y chromium; }
	@command -v nginx >/dev/null || { apt-get update -qq && apt-get install -qq -y nginx-light; }

clean:
	rm -rf $(VENV) build dist docs/_build docs/reference topkit-demo
