# What one types. A warm run installs nothing: a stamp is as new as the files it was made from.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
STATIC := ckpt_viz/explorer/static/widget.js
NODE_STAMP := js/node_modules/.package-lock.json
JS_SOURCES := $(shell find js/src -type f 2>/dev/null) $(wildcard js/*.json js/*.mjs js/*.ts)
SECONDS_OF_FUZZ ?= 600
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
CHROMIUM_LINE := apt-get install -y --no-install-recommends chromium
REDIS_LINE := apt-get install -y --no-install-recommends redis-server
export LANGSMITH_TRACING := false

.PHONY: help demo test lint js js-test py-test soak fuzz bench screenshots chromium redis clean

help:
	@echo 'make demo           the tour, in JupyterLab'
	@echo 'make demo CHECK=1   the tour run and looked at without a person'
	@echo 'make test           every check: lint, types, floors, page, Python, real browser'
	@echo 'make soak           the tests that take full counts'
	@echo 'make screenshots    pictures of the Explorer for README.md, in js/pictures'
	@echo 'make fuzz           the serializer against ten minutes of bytes that a fuzzer makes'
	@echo 'make bench          speed, as ratios of CPU time: LangGraph divided by this engine'
	@echo 'make clean          remove what was built, but for .venv'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer is needed and none is on PATH' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The page comes first: without npm one line says so, instead of pip's page of traceback.
$(VENV)/.stamp-%: pyproject.toml | $(STATIC) $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	$(BIN)/python -m compileall -q ckpt_viz  # an editable install compiles nothing by itself
	touch $@

$(NODE_STAMP): js/package-lock.json js/package.json
	@command -v npm >/dev/null || { echo 'npm is not on PATH: install Node 20 or newer' >&2; exit 1; }
	@node -e 'process.exit(+(parseInt(process.versions.node) < 20))' \
		|| { echo "Node 20 or newer is needed, and this is $$(node --version)" >&2; exit 1; }
	cd js && npm ci --ignore-scripts --no-audit --no-fund
	touch $@

$(STATIC): $(NODE_STAMP) $(JS_SOURCES)
	cd js && npm run build
	touch $@

js: $(STATIC)

# Without a browser the checks that need one can't run: with CI set that is a failure, else it is said.
chromium:
	@if command -v $(BROWSERS) >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && $(CHROMIUM_LINE); \
	else echo 'No Chromium, and some checks need one. Type:  sudo $(CHROMIUM_LINE)' >&2; [ -z "$${CI:-}" ]; fi

# PostgreSQL comes with the test extra; Redis is the system's.
redis:
	@if command -v redis-server >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && $(REDIS_LINE); \
	else echo 'No Redis, and its tests are skipped. Type:  sudo $(REDIS_LINE)' >&2; [ -z "$${CI:-}" ]; fi

ifdef CHECK
demo: $(VENV)/.stamp-demo $(STATIC) chromium
	$(BIN)/python notebooks/check.py
else
demo: $(VENV)/.stamp-demo $(STATIC)
	$(BIN)/jupyter lab --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
		$$([ "$$(id -u)" = 0 ] && echo --allow-root) notebooks/tour.ipynb
endif

test: $(VENV)/.stamp-test $(STATIC) chromium redis lint js-test py-test

lint: $(VENV)/.stamp-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

js-test: $(STATIC)
	cd js && npx --no-install tsc --noEmit
	cd js && npx --no-install biome check .
	cd js && npx --no-install vitest run

py-test: $(VENV)/.stamp-test $(STATIC) chromium redis
	$(BIN)/python -m pytest -m 'not soak' $$(command -v $(BROWSERS) >/dev/null || echo --ignore=tests/browser)

soak: $(VENV)/.stamp-test $(STATIC) redis
	$(BIN)/python -m pytest -m soak

fuzz: $(VENV)/.stamp-fuzz
	$(BIN)/python -m tests.fuzz $(SECONDS_OF_FUZZ)

bench: $(VENV)/.stamp-test
	$(BIN)/python -m tests.bench.compare
	$(BIN)/python -m tests.bench.stores

screenshots: $(VENV)/.stamp-test $(STATIC) chromium
	$(BIN)/python -m tests.browser.screenshots

clean:
	rm -rf js/node_modules ckpt_viz/explorer/static dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache
