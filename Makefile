# Every verb does its own set-up: a .venv inside this checkout, with the versions of the lock file.
# Nothing is installed elsewhere and nothing is kept in the home directory.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PIP := PIP_USER=0 $(BIN)/python -m pip --quiet --disable-pip-version-check --no-cache-dir
WORKERS ?= 2

.PHONY: help demo test bench golden lock clean FORCE

help:
	@echo "make demo    memories over 300,000 lines of real code; then the code changes (half a minute)"
	@echo "make test    ruff, mypy --strict, the import contracts and the whole test suite"
	@echo "make bench   the figures of docs/performance.md, as ratios, on this machine"
	@echo "make golden  write the golden files anew; review the difference before committing it"
	@echo "make lock    resolve requirements.lock anew (needs uv)"
	@echo "make clean   remove the .venv and every cache of this checkout"

demo: $(STAMP)
	@$(BIN)/python tools/demo.py

test: $(STAMP)
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -c "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
	$(BIN)/python -m pytest -n $(WORKERS)

bench: $(STAMP)
	@$(BIN)/python -m benchmarks.run

golden: $(STAMP)
	$(BIN)/python -m tests.heimdall.extract.golden
	$(BIN)/python -m tests.heimdall.cli.golden

lock:
	uv pip compile pyproject.toml --group dev --group build --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" --quiet -o requirements.lock

clean:
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The stamp holds the checkout's place, so that a copied or moved checkout is set up again.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): FORCE
endif

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed, and '$(PYTHON)' is not. Try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@command -v git >/dev/null || { echo "git is needed, and it is not on PATH." >&2; exit 1; }
	@echo "setting up .venv (once) ..." >&2
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || \
	  { echo "'$(PYTHON)' could not make a virtual environment; on Debian and Ubuntu the package python3-venv is missing." >&2; exit 1; }
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@echo "$(CURDIR)" > $(STAMP)
