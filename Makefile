# Everything a fresh checkout needs: `make demo` and `make test` set up a virtual environment first.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-for-trysim

.PHONY: demo test test-full test-plain test-browser check bench docs build constraints clean help

help:
	@echo "make demo         train a small Семерик team, compare it with the baselines (10 minutes at most)"
	@echo "make test         the tests"
	@echo "make test-full    the long tests too: 2 million plies against the reference"
	@echo "make test-plain   the tests of the rules as plain Python, without numba"
	@echo "make test-browser the table in a real browser (needs Chromium and its driver)"
	@echo "make check        lint, formatting, types, generated tables, the documentation's links"
	@echo "make bench        speed of every layer, peers beside them"
	@echo "make docs         the documentation site, in site/"
	@echo "make build        wheel and sdist into dist/"
	@echo "make constraints  pin the versions installed here into constraints.txt"

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "trysim needs Python 3.10 to 3.13: make PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev,human]"
	@touch $@

demo: $(READY)
	rm -rf runs/demo
	$(BIN)/trysim train configs/semerik/demo.yaml --out runs/demo
	$(BIN)/trysim arena semerik --agents policy:runs/demo/policy expert greedy random \
		--option horizon=deal --deals 2000 --seed 2026 --json runs/demo/arena.json
	@echo "results        runs/demo/arena.json"
	@echo "learning curve runs/demo/learning_curve.png"

test: $(READY)
	$(BIN)/python -c "import trysim.envs as e; [game.compile() for game in e.GAMES.values()]"
	$(BIN)/python -m pytest -q -n 2

test-full: $(READY)
	TRYSIM_FULL=1 $(BIN)/python -m pytest -q

test-plain: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2 tests/test_cases.py tests/test_semerik_rules.py \
		tests/test_semnadtsat_rules.py tests/test_sim_lystiv_rules.py

test-browser: $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[browser,web]"
	$(BIN)/python -m pytest -q tests/test_browser.py

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/tables.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir site

bench: $(READY)
	$(BIN)/trysim bench --peers --json benchmarks/latest.json

docs: $(READY)
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/pictures.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir site
	@echo "open site/index.html"

build: $(READY)
	$(BIN)/python -m build --outdir dist .

constraints: $(READY)
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu//' > constraints.txt

clean:
	rm -rf $(VENV) build dist runs site .pytest_cache .mypy_cache .ruff_cache
