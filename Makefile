# Everything a fresh checkout needs: `make demo` and `make test` set up a virtual environment first.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-for-trysim
PINS ?= constraints.txt

.PHONY: demo test test-full test-plain test-lowest test-newest test-browser check bench docs build \
	constraints audit clean help

help:
	@echo "make demo         train a small Семерик team, compare it with the baselines (10 minutes at most)"
	@echo "make test         the tests"
	@echo "make test-full    the long tests too: 2 million plies against the reference"
	@echo "make test-plain   the tests of the rules as plain Python, without numba"
	@echo "make test-lowest  the tests with the lowest versions of other packages that are allowed"
	@echo "make test-newest  the tests with their newest versions; TORCH=2.13.0 keeps to one of torch"
	@echo "make test-browser the table in a real browser (needs Chromium and its driver)"
	@echo "make check        lint, formatting, types, generated tables, the documentation's links"
	@echo "make bench        speed of every layer, peers beside them"
	@echo "make docs         the documentation site, in site/"
	@echo "make build        wheel and sdist into dist/"
	@echo "make constraints  pin the versions of all dependencies; UPGRADE=1 takes the newest"
	@echo "make audit        ask whether these versions have known vulnerabilities"

$(READY): pyproject.toml $(PINS)
	@test -n "$(PYTHON)" || { echo "trysim needs Python 3.10 to 3.13: make PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint $(PINS) torch
	$(BIN)/python -m pip install --quiet --constraint $(PINS) --editable ".[dev,human]"
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

test-lowest test-newest: test-%:
	$(MAKE) test VENV=.venv-$* PINS=.venv-$*/pins.txt

RESOLUTION_lowest := lowest-direct
RESOLUTION_newest := highest
.venv-lowest/pins.txt .venv-newest/pins.txt: .venv-%/pins.txt: pyproject.toml
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet uv
	echo "torch$(if $(TORCH),==$(TORCH))" | .venv-$*/bin/uv pip compile --quiet --constraints - \
		--resolution $(RESOLUTION_$*) --python .venv-$*/bin/python --extra dev --extra human \
		--no-annotate --output-file $@ pyproject.toml

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

# For every Python that is supported. Two extras ask for other versions than all the rest.
TOGETHER := human reports web video browser optuna mlflow wandb openspiel torchrl tianshou dev
pin = echo "torch$(if $(TORCH),==$(TORCH))" | $(BIN)/uv pip compile --quiet --constraints - \
	$(if $(UPGRADE),--upgrade) --universal --python-version 3.10 $(addprefix --extra ,$(2)) \
	--no-annotate --custom-compile-command "make constraints" --output-file $(1) pyproject.toml
constraints: $(READY)
	$(BIN)/python -m pip install --quiet uv
	$(call pin,constraints.txt,$(TOGETHER))
	$(call pin,constraints-ray.txt,ray)
	$(call pin,constraints-agilerl.txt,agilerl)

audit: $(READY)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

clean:
	rm -rf $(VENV) build dist runs site .pytest_cache .mypy_cache .ruff_cache
