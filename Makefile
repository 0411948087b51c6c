# Every target does its own set-up; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.ready-dev
# Where this is set, every process of the tests would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow check bench docs browser kernels clean

demo: $(READY)
	$(BIN)/topkit demo --out topkit-demo

test: $(DEV)
	$(MAKE) --jobs=2 --output-sync=target check docs browser kernels
	$(BIN)/pytest -n 2 --dist loadfile -m "not slow" --cov --cov-report=term --durations=30

# The tests that take more than ten seconds each: studies, kills, fuzzing of what once failed, long pages.
test-slow: $(DEV) browser
	$(BIN)/pytest -n 2 --dist loadfile -m slow

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(DEV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m bench

docs: $(DEV)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plots,text]'
	touch $@

$(DEV): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,docs]'
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
