# Each target does all its set-up by itself; it needs python3, make and a package index, and nothing else.
SHELL := /bin/sh
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
# The development venv is a superset of the runtime: nothing is installed twice. What Python compiles is kept.
RUN := PYTHONDONTWRITEBYTECODE= MEMLAYER_RUNTIME_DIR="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(VENV)/bin:$$PATH"
UV_COMPILE := $(VENV)/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"

# A hook that meets a late daemon keeps its event and says nothing: on a busy machine a test of its answer gets two more
# tries, each listed as a rerun. A fault that is always there fails all three.
AGAIN := --reruns 2 --reruns-delay 1

# axe-core finds what a page withholds from those who do not see it; Mozilla Public License 2.0, not shipped
AXE := 4.14.1

# What others depend on and memlayer never loads: 40 MB (adapters/embedding/lazy_import.py).
NEVER_LOADED := pillow hf-xet

# Tests that take a real host, a browser, minutes or damage have targets of their own.
FAST := not host and not slow and not fault and not browser

.PHONY: help venv demo check nearest pytest collect test test-host test-view test-fault torture test-boot lint bench docs lock dist clean

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -e 's/:.*## /\t/' | expand -t 12

venv:
	@python3 -m memlayer.edge.bootstrap.provision $(VENV) requirements-dev.lock

demo: venv  ## two sessions in a throw-away home: what is remembered, and what comes back
	@$(RUN) $(PY) demo/run.py

check: venv  ## before each commit: lint, types, layers, units, properties, the store's contract in memory
	@$(MAKE) --no-print-directory -j2 lint nearest

nearest: venv
	$(RUN) $(PY) -m pytest -q -n 2 --dist worksteal --hypothesis-profile check -m "$(FAST)" -k "not lance" \
		tests/unit tests/property tests/contract/test_store_*.py

pytest: venv  ## one file or one test: make pytest ARGS="tests/unit/test_kinds.py -k label"
	$(RUN) $(PY) -m pytest $(ARGS)

# Collected once beside mypy: pytest rewrites asserts, in each process of a run where none has done it before.
collect: venv
	@$(RUN) $(PY) -m pytest --collect-only -qq > /dev/null

test: venv  ## lint, types, layers and the fast tests
	@$(MAKE) --no-print-directory -j2 lint collect
	$(RUN) $(PY) -m pytest -n 4 --dist worksteal $(AGAIN) -m "$(FAST)"

test-host: venv  ## the tests that drive the real Claude Code and Codex (installed from npm)
	$(RUN) $(PY) -m pytest -n 3 --dist worksteal $(AGAIN) -m host tests/host tests/integration/test_benches.py

test-view: venv  ## the page in a real browser: the system's chromium, playwright, axe-core from npm
	$(VENV)/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements-view-tests.lock
	@mkdir -p $(VENV)/axe && echo '{"private": true}' > $(VENV)/axe/package.json
	cd $(VENV)/axe && npm install --loglevel=error --no-save --no-audit --no-fund axe-core@$(AXE)  # --prefix would hide npm's own settings
	$(RUN) $(PY) -m pytest -n 2 --dist worksteal $(AGAIN) -m browser tests/view

test-fault: venv  ## the tests that kill, starve and damage (short forms)
	$(RUN) $(PY) -m pytest -n 4 --dist worksteal $(AGAIN) -m fault tests/fault tests/hostile tests/integration

torture: venv  ## their long forms, and 10,000 hostile payloads each (docs/inside/reliability.md: how long)
	MEMLAYER_TORTURE=1000 MEMLAYER_FUZZ=10000 $(RUN) $(PY) -m pytest -n 2 --dist worksteal tests/fault tests/hostile

test-boot: venv  ## the slow tests: real runtimes are built
	$(RUN) $(PY) -m pytest -m slow tests/boot

lint: venv  ## ruff, mypy --strict, import-linter
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: venv  ## measure the hooks
	$(RUN) $(PY) bench/hooks.py

docs: venv  ## regenerate the generated parts of docs/
	$(RUN) $(PY) docs/generate.py

lock: venv  ## resolve requirements*.in anew
	$(UV_COMPILE) --upgrade $(addprefix --no-emit-package ,$(NEVER_LOADED)) requirements.in -o requirements.lock
	for name in $$($(PY) -c "from memlayer.edge.bootstrap.extras import EXTRAS; print(*EXTRAS)"); do $(PY) -c "from memlayer.edge.bootstrap.extras import EXTRAS as e; print(e['$$name'])" \
		| $(UV_COMPILE) --upgrade --constraint requirements.lock - -o requirements-$$name.lock || exit 1; done
	$(UV_COMPILE) --upgrade --constraint requirements.lock requirements-dev.in -o requirements-dev.lock
	$(UV_COMPILE) --upgrade requirements-s3-tests.in -o requirements-s3-tests.lock
	$(UV_COMPILE) --upgrade --constraint requirements-dev.lock requirements-view-tests.in -o requirements-view-tests.lock

dist: venv  ## build the wheel
	$(VENV)/bin/uv build --wheel --out-dir dist

clean:  ## remove what the other targets made
	rm -rf $(VENV) $(VENV).log dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
