"""`manage.py migrate`, which also makes the file of SQLite."""

import pytest

from tests.core.command_line import installation


@pytest.mark.one_engine
def test_the_first_migrate_makes_the_database(django_db_setup: None) -> None:
    with installation() as at:
        migrated = at.run("migrate", "--verbosity=0")
    assert (migrated.returncode, migrated.stdout, migrated.stderr) == (0, "", "")
