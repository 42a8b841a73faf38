"""`manage.py setup` lists the stored globs that are not read as they were meant."""

from io import StringIO

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.management.commands.setup import Command
from ctxhub.management.unread_globs import find_unread_globs
from ctxhub.toolbox.dispatch import call
from tests.core.stale import write_rows
from tests.core.test_globs_migrated import FIFTY_ONE, migrate, written_before
from tests.tables import dump_all
from tracking.models import LeasePath

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (
            FIFTY_ONE,
            "has '{f0,f1,f2,f3,f4,f5,f6,f7,f8,f9,f10,f11,f12,f13,f14,f15,f16,…, which matches only",
        ),
        ("src/@(a|b)", "has 'src/@(a|b)', which matches only a file that is called so"),
        ("!src/gen/**", "begins with '!src/gen/**', which exempts nothing"),
    ],
)
def test_what_the_migration_left_is_listed(ada: Caller, path: str, problem: str) -> None:
    refs = write_rows(ada, ["src/**"])
    written_before(ada.project, [path])
    migrate()
    before = dump_all()
    found = list(find_unread_globs())
    assert len(found) == 3
    for ref, sentence in zip(refs, found, strict=True):
        assert sentence.startswith(f"project apollo: {ref} {problem}")
        assert sentence.endswith("; set its paths again.")
    assert dump_all() == before


@pytest.mark.parametrize("path", ["{x}", "app/(auth)/page.tsx", "src/{m,n}.py", "src/c+(old).py"])
def test_names_are_not_listed(ada: Caller, ben: Caller, path: str) -> None:
    call(ben, "file", {"action": "record", "path": path, "change": "modified"})
    write_rows(ada, ["src/**"])
    written_before(ada.project, ["src/**", path, "!src/gen/**"])
    migrate()
    assert list(find_unread_globs()) == []


def test_a_live_lease_on_braces_is_listed_and_no_lock(ada: Caller, ben: Caller) -> None:
    """Written by an earlier version: it is no lock by surprise."""
    lease = call(ada, "file", {"action": "lease", "paths": ["src/x.py"]})["lease_id"]
    LeasePath.unscoped.filter(lease=lease).update(pattern="src/{m,n}.py")
    migrate()
    assert call(ben, "file", {"action": "lease", "paths": ["src/m.py"]})["result"] == "created"
    assert list(find_unread_globs()) == [
        f"project apollo: lease:{lease} has 'src/{{m,n}}.py', which matches only a file that is called so;"
        " lease what is meant."
    ]
    call(ada, "file", {"action": "release", "lease_id": lease})
    assert list(find_unread_globs()) == []


def test_setup_prints_twenty_and_counts_the_others(ada: Caller) -> None:
    for number in range(22):
        call(ada, "decision", {"action": "set", "key": f"k{number}", "value": 1, "paths": ["old/**"]})
    written_before(ada.project, ["src/@(a|b)"])
    told = StringIO()
    Command(stdout=told).tell_unread_globs()
    lines = told.getvalue().splitlines()
    assert lines[0].startswith("Attention, project apollo: decision:k0 has 'src/@(a|b)'")
    assert len(lines) == 21
    assert lines[20] == "Attention, 2 more globs are not read as they were meant."
