# What the project can do for you; `make help` lists it. It needs Python 3.11 to 3.14 and nothing else.

# The packages that ctxhub needs are built for these Pythons.
IS_KNOWN := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))
PYTHON ?= $(or $(shell \
	for name in python3 python3.14 python3.13 python3.12 python3.11; do \
		$$name -c '$(IS_KNOWN)' 2>/dev/null && echo $$name && break; \
	done),python3)
ARGS ?=

# Another environment beside it, of another Python: make VENV=.venv-newest PYTHON=python3.13 test-sqlite
VENV ?= .venv
BIN := $(VENV)/bin
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

# Whether the environment works: not one of a moved folder (its scripts name the old one), of a Python that has gone,
# or of another Python than the command line asks for.
USABLE := $(shell \
	$(BIN)/python -c 'import pip; $(IS_KNOWN)' 2>/dev/null \
	&& head -n 3 $(BIN)/pip | grep -qF '$(CURDIR)/$(BIN)/' \
	$(if $(filter command,$(origin PYTHON)),&& [ "$$($(BIN)/python --version)" = "$$($(PYTHON) --version)" ]) \
	&& echo yes)

# The pip that Python brings may be old, and takes twice the time to look through the versions of each package.
PIP_INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --constraint constraints.txt
define install
	@echo "Installing what ctxhub needs into $(VENV); it takes a minute, and only this once ..."
	@$(PIP_INSTALL) --upgrade pip
	@$(PIP_INSTALL) --editable '$(1)'
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib ctxhub memory messaging sessions tracking || true
endef

CARRY_VERSION := pyproject.toml integrations/client/ctxhub_client/version.py \
	integrations/claude-code/plugin/.claude-plugin/plugin.json

.PHONY: help serve demo version test test-sqlite test-postgres coverage check $(CHECKS) install-dev clean new-venv

help: ## list these
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo '  PYTHON=python3.12 chooses the Python, ARGS="..." goes to serve, demo or pytest: make test ARGS="-k lease"'

serve: $(VENV)/installed ## set everything up and start the hub
	@$(BIN)/python manage.py serve --setup $(ARGS)

demo: $(VENV)/installed ## show agents that work side by side, on a hub that is thrown away
	@$(BIN)/python manage.py demo $(ARGS)

version: ## write the number of a new version to all that carry it: make version VERSION=0.2.0
	@echo '$(VERSION)' | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$$' || { echo 'Which? make version VERSION=0.2.0'; exit 2; }
	@sed -i.before -E 's/^(version = |RELEASE = |  "version": )"[0-9.]+"/\1"$(VERSION)"/' $(CARRY_VERSION)
	@rm $(CARRY_VERSION:=.before)
	@grep -nF '"$(VERSION)"' $(CARRY_VERSION)

test: $(VENV)/installed-dev ## run all tests, on SQLite and on PostgreSQL
	@$(MAKE) --keep-going test-sqlite test-postgres

# An empty DATABASE_URL means the default, whatever .env says.
test-sqlite: $(VENV)/installed-dev ## run all tests on SQLite
	@echo "== Tests on SQLite"
	@$(if $(IN_CI),COVERAGE_CORE=sysmon) DATABASE_URL= $(PYTEST) $(if $(IN_CI),$(COVERAGE)) $(ARGS)

test-postgres: $(VENV)/installed-dev ## run all tests on PostgreSQL
	@echo "== Tests on PostgreSQL"
	@$(BIN)/python -m tests.postgres -- $(PYTEST) $(ARGS)

install-dev: $(VENV)/installed-dev ## set up what tests and checks need

coverage: $(VENV)/installed-dev ## run all tests on SQLite, and show which lines of the source none of them runs
	@DATABASE_URL= $(PYTEST) $(COVERAGE) $(ARGS)

check: $(VENV)/installed-dev ## check style, types, imports, migrations and settings
	@$(MAKE) --keep-going $(CHECKS)

check-ruff: $(VENV)/installed-dev
	$(BIN)/ruff check .

check-format: $(VENV)/installed-dev
	$(BIN)/ruff format --check .

check-types: $(VENV)/installed-dev
	$(BIN)/mypy

check-imports: $(VENV)/installed-dev
	$(BIN)/lint-imports

# Django warns where there is no database to compare with: a fresh clone has none.
check-migrations: $(VENV)/installed-dev
	DATABASE_URL= $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

check-django: $(VENV)/installed-dev
	DATABASE_URL= $(BIN)/python manage.py check

clean: ## remove .venv and caches; what the hub has stored (var/) stays
	rm -rf .venv .venv-* build *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './var/*' -prune -exec rm -rf {} +

$(VENV)/installed: pyproject.toml constraints.txt $(if $(USABLE),,new-venv)
	$(call install,.)
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt $(if $(USABLE),,new-venv)
	$(call install,.[dev])
	@touch $(VENV)/installed $@

new-venv:
	@[ ! -L $(VENV) ] \
		|| { echo "$(VENV) is a link to $$(readlink $(VENV)), which this would empty. Remove the link first." >&2; exit 1; }
	@command -v '$(PYTHON)' >/dev/null \
		|| { echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@'$(PYTHON)' --version >/dev/null 2>&1 \
		|| { echo "$(PYTHON) is there, but does not start. It says:" >&2; '$(PYTHON)' --version 2>&1 | sed 's/^/    /' >&2; \
			echo "Name another one, by its path if need be: make PYTHON=/path/to/bin/python3 ..." >&2; exit 1; }
	@'$(PYTHON)' -c '$(IS_KNOWN)' \
		|| { echo "ctxhub runs on Python 3.11 to 3.14, and $(PYTHON) is $$('$(PYTHON)' --version 2>&1). Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, sqlite3, venv' 2>/dev/null \
		|| { echo "$(PYTHON) cannot make a virtual environment, or has no sqlite3. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@'$(PYTHON)' -m venv --clear $(VENV)
