# What the project can do for you; `make help` lists it. It needs Python 3.11 or newer and nothing else.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
MAKEFLAGS += --no-print-directory
# Two tests more at once than there are processors, as many wait; those of one file one after the other, in the
# order collected.
PROCESSES = $(shell $(BIN)/python -c 'import os; print(os.cpu_count() + 2)')
PYTEST = $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder
# From Python 3.12 on, counting what the tests run costs little; before, it takes twice the time, and `make coverage`
# does it when asked.
FLOOR := 96
COVERAGE = --cov --cov-report=term:skip-covered --cov-fail-under=$(FLOOR)
IN_CI = $(if $(CI),$(shell $(BIN)/python -c 'import sys; print("yes" if sys.version_info >= (3, 12) else "")'))
CHECKS := check-ruff check-format check-types check-imports check-migrations check-django

# Whether .venv works: not one of a moved folder (its scripts name the old one), of a Python that has gone, or of
# another Python than the command line asks for.
USABLE := $(shell \
	$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& head -n 3 $(BIN)/pip | grep -qF '$(CURDIR)/$(BIN)/' \
	$(if $(filter command,$(origin PYTHON)),&& [ "$$($(BIN)/python --version)" = "$$($(PYTHON) --version)" ]) \
	&& echo yes)

# The pip that Python brings may be old, and takes twice the time to look through the versions of each package.
PIP_INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --constraint constraints.txt
define install
	@echo "Installing what ctxhub needs into .venv; it takes a minute, and only this once ..."
	@$(PIP_INSTALL) --upgrade pip
	@$(PIP_INSTALL) --editable '$(1)'
	@$(BIN)/python -m compileall -qq -j 0 .venv/lib ctxhub memory messaging sessions tracking || true
endef

.PHONY: help serve demo test test-sqlite test-postgres coverage check $(CHECKS) install-dev clean new-venv

help: ## list these
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo '  PYTHON=python3.12 chooses the Python, ARGS="..." goes to serve, demo or pytest: make test ARGS="-k lease"'

serve: .venv/installed ## set everything up and start the hub
	@$(BIN)/python manage.py serve --setup $(ARGS)

demo: .venv/installed ## show agents that work side by side, on a hub that is thrown away
	@$(BIN)/python manage.py demo $(ARGS)

test: .venv/installed-dev ## run all tests, on SQLite and on PostgreSQL
	@$(MAKE) --keep-going test-sqlite test-postgres

# An empty DATABASE_URL means the default, whatever .env says.
test-sqlite: .venv/installed-dev ## run all tests on SQLite
	@echo "== Tests on SQLite"
	@$(if $(IN_CI),COVERAGE_CORE=sysmon) DATABASE_URL= $(PYTEST) $(if $(IN_CI),$(COVERAGE)) $(ARGS)

test-postgres: .venv/installed-dev ## run all tests on PostgreSQL
	@echo "== Tests on PostgreSQL"
	@$(BIN)/python -m tests.postgres -- $(PYTEST) $(ARGS)

install-dev: .venv/installed-dev ## set up what tests and checks need

coverage: .venv/installed-dev ## run all tests on SQLite, and show which lines of the source none of them runs
	@DATABASE_URL= $(PYTEST) $(COVERAGE) $(ARGS)

check: .venv/installed-dev ## check style, types, imports, migrations and settings
	@$(MAKE) --keep-going $(CHECKS)

check-ruff: .venv/installed-dev
	$(BIN)/ruff check .

check-format: .venv/installed-dev
	$(BIN)/ruff format --check .

check-types: .venv/installed-dev
	$(BIN)/mypy

check-imports: .venv/installed-dev
	$(BIN)/lint-imports

# Django warns where there is no database to compare with: a fresh clone has none.
check-migrations: .venv/installed-dev
	DATABASE_URL= $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

check-django: .venv/installed-dev
	DATABASE_URL= $(BIN)/python manage.py check

clean: ## remove .venv and caches; what the hub has stored (var/) stays
	rm -rf .venv build *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +

.venv/installed: pyproject.toml constraints.txt $(if $(USABLE),,new-venv)
	$(call install,.)
	@touch $@

.venv/installed-dev: pyproject.toml constraints.txt $(if $(USABLE),,new-venv)
	$(call install,.[dev])
	@touch .venv/installed $@

new-venv:
	@[ ! -L .venv ] \
		|| { echo ".venv is a link to $$(readlink .venv), which this would empty. Remove the link first." >&2; exit 1; }
	@command -v $(PYTHON) >/dev/null \
		|| { echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ctxhub needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
		|| { echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv
