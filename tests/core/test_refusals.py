"""Refusals are counted for agent, object, error and minute, in the background, and bounded."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.events.log import count_updates, list_activity
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotAllowed, NotFound, Unauthenticated
from ctxhub.core.models import Event, Project, Refusal
from ctxhub.core.refusals import services
from ctxhub.core.refusals.queries import list_refusals, refusals_between, refusals_of
from ctxhub.core.refusals.services import WRITER, count_refusal
from ctxhub.toolbox.dispatch import call

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def refuse(caller: Caller, ref: str = "lease:1", times: int = 1) -> None:
    for _ in range(times):
        count_refusal(caller, Conflict("It is taken.", about=ref))
    assert WRITER.flush()


def counted(caller: Caller, **query: Any) -> list[tuple[str, str, str, int]]:
    WRITER.flush()
    rows = list_refusals(caller.project_id, limit=200, **query).objects()
    return [(row["agent"], row["ref"], row["code"], row["count"]) for row in rows]


# -- What is counted -------------------------------------------------------------------------------


def refused(caller: Caller, tool: str, action: str | None = None, **arguments: Any) -> CtxhubError:
    with pytest.raises(CtxhubError) as error:
        call(caller, tool, {"action": action, **arguments})
    return error.value


def taken_lease(ada: Caller, ben: Caller) -> str:
    lease = call(ada, "file", {"action": "lease", "paths": ["src/**"]})["lease_id"]
    assert refused(ben, "file", "lease", paths=["src/a.py"]).code == "conflict"
    return f"lease:{lease}"


def others_lease(ada: Caller, ben: Caller) -> str:
    lease = call(ada, "file", {"action": "lease", "paths": ["src/**"]})["lease_id"]
    assert refused(ben, "file", "release", lease_id=lease).code == "not_allowed"
    return f"lease:{lease}"


def old_version(ada: Caller, ben: Caller) -> str:
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "jwt"})
    refused(ben, "decision", "set", key="api/auth", value="mtls", expected_version="0.9")
    return "decision:api/auth"


def old_version_in_a_batch(ada: Caller, ben: Caller) -> str:
    items = [{"key": "k", "value": "x", "expected_version": "0.9"}, {"key": "n", "value": "y"}]
    refused(ben, "decision", "set_batch", items=items)
    return "decision:k"


def old_version_in_a_batch_that_is_not_atomic(ada: Caller, ben: Caller) -> str:
    items = [{"key": "k", "value": "x", "expected_version": "0.9"}, {"key": "n", "value": "y"}]
    assert call(ben, "decision", {"action": "set_batch", "items": items, "atomic": False})["failed"] == 1
    return "decision:k"


def old_pad(ada: Caller, ben: Caller) -> str:
    workflow = call(ada, "scratchpad", {"action": "create_workflow", "name": "w"})["workflow_id"]
    pad = call(ada, "scratchpad", {"action": "create", "workflow_id": workflow, "name": "p"})["scratchpad_id"]
    refused(ben, "scratchpad", "update", scratchpad_id=pad, content="x", expected_length=9)
    return f"scratchpad:{pad}"


def denied_delete(ada: Caller, ben: Caller) -> str:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v"})
    member = Caller(ben.project, "ben", frozenset({"read", "write"}))
    refused(member, "delete", refs=["decision:k"])
    return "decision:k"


def denied_write_of_an_id(ada: Caller, ben: Caller) -> str:
    reader = Caller(ben.project, "Ben", frozenset({"read"}))
    refused(reader, "message", "claim", id=7)
    return "message:7"


def denied_agent(ada: Caller, ben: Caller) -> str:
    refused(Caller(ben.project, "ben", pinned=True), "hub", "stats", agent="ada")
    return ""


REFUSALS: list[tuple[Callable[[Caller, Caller], str], str]] = [
    (taken_lease, "conflict"),
    (others_lease, "not_allowed"),
    (old_version, "conflict"),
    (old_version_in_a_batch, "conflict"),
    (old_version_in_a_batch_that_is_not_atomic, "conflict"),
    (old_pad, "conflict"),
    (denied_delete, "not_allowed"),
    (denied_write_of_an_id, "not_allowed"),
    (denied_agent, "not_allowed"),
]


@pytest.mark.parametrize(("refuse", "code"), REFUSALS, ids=lambda value: getattr(value, "__name__", value))
def test_each_kind_of_refusal_is_counted_once_for_agent_and_ref(
    ada: Caller, ben: Caller, refuse: Callable[[Caller, Caller], str], code: str
) -> None:
    ref = refuse(ada, ben)
    [(agent, *found)] = counted(ada)
    assert (agent.casefold(), *found) == ("ben", ref, code, 1)


def test_it_is_counted_for_the_agent_that_speaks(ada: Caller) -> None:
    reader = Caller(ada.project, "ada", frozenset({"read"}))
    refused(reader, "decision", "set", key="k", value="v", agent="eve")
    assert counted(ada) == [("eve", "decision:k", "not_allowed", 1)]


@pytest.mark.parametrize(
    "error",
    [InvalidInput("x"), NotFound("x"), Conflict("A name is taken."), Unauthenticated("x"), ValueError("x")],
    ids=repr,
)
def test_other_errors_are_not_counted(ada: Caller, error: Exception) -> None:
    count_refusal(ada, error)
    assert counted(ada) == []


def test_an_error_that_passes_several_layers_is_counted_once(ada: Caller) -> None:
    error = NotAllowed("No.")
    for _ in range(3):
        count_refusal(ada, error)
    assert counted(ada) == [("ada", "", "not_allowed", 1)]


def test_a_refused_call_writes_nothing(ada: Caller, ben: Caller) -> None:
    taken_lease(ada, ben)
    WRITER.discard()
    with CaptureQueriesContext(connection) as captured:
        refused(ben, "file", "lease", paths=["src/a.py"])
    assert [query["sql"] for query in captured if query["sql"].split()[0] not in ("SELECT", "WITH")] == []


def test_nobody_is_woken_and_the_log_has_nothing(ada: Caller, ben: Caller) -> None:
    before = count_updates(ada, since="e0")
    refuse(ben, times=3)
    assert count_updates(ada, since="e0") == before
    assert list_activity(ada.project_id).rows == []
    assert not Event.unscoped.exists()


def test_a_credential_in_a_call_is_masked(ada: Caller) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    count_refusal(ada, Conflict(f"{secret!r} is at version 2.", about=f"decision:{secret}"))
    WRITER.flush()
    row = Refusal.unscoped.get()
    assert secret not in row.ref + row.note


# -- Bounds ----------------------------------------------------------------------------------------


def test_what_cannot_be_stored_costs_no_other_refusal(ada: Caller) -> None:
    refuse(ada, "decision:a\ud800\0b")
    refuse(ada, "decision:c")
    assert {row[1] for row in counted(ada)} == {"decision:c", "decision:a?b"}


def test_ten_thousand_refusals_within_a_minute_are_one_row(ada: Caller) -> None:
    refuse(ada, times=10_000)
    assert counted(ada) == [("ada", "lease:1", "conflict", 10_000)]


def test_a_row_counts_one_minute(ada: Caller, time: Any) -> None:
    for seconds in (0, 59, 60):
        time.move_to(NOON + timedelta(seconds=seconds))
        refuse(ada)
    rows = list_refusals(ada.project_id).objects()
    assert [(row["count"], row["first"][11:-1], row["last"][11:-1]) for row in rows] == [
        (1, "12:01:00", "12:01:00"),
        (2, "12:00:00", "12:00:59"),
    ]


def test_an_agent_with_ever_new_refs_fills_no_disk(ada: Caller, ben: Caller, time: Any) -> None:
    for n in range(1_000):
        count_refusal(ada, Conflict("No.", about=f"lease:{n}"))
    WRITER.flush()
    count_refusal(ada, Conflict("No.", about="lease:1001"))
    refuse(ben)
    found = counted(ada)
    assert len(found) == services.ROWS_OF_AGENT + 2
    assert ("ada", "", "conflict", 1_001 - services.ROWS_OF_AGENT) in found
    assert ("ben", "lease:1", "conflict", 1) in found
    time.shift(timedelta(hours=1))
    refuse(ada, "lease:5000")
    assert counted(ada)[0] == ("ada", "lease:5000", "conflict", 1)


def test_ever_new_agents_fill_no_disk(ada: Caller) -> None:
    for n in range(1_000):
        count_refusal(ada.speaking_as(f"a{n}"), NotAllowed("No."))
    WRITER.flush()
    assert Refusal.unscoped.count() == services.ROWS_OF_PROJECT + 1
    assert ("", "", "not_allowed", 1_000 - services.ROWS_OF_PROJECT) in [
        (row.name, row.ref, row.code, row.count) for row in Refusal.unscoped.all()
    ]


def test_they_are_kept_as_long_as_accesses(ada: Caller, time: Any) -> None:
    refuse(ada)
    time.shift(timedelta(days=90))
    cleanup(ada.project_id)
    assert Refusal.unscoped.count() == 1
    time.shift(timedelta(minutes=1))
    set_config(caller=ada, values={"access_days": 0})
    cleanup(ada.project_id)
    assert Refusal.unscoped.count() == 1
    set_config(caller=ada, values={"access_days": 90})
    assert cleanup(ada.project_id)["refusals"] == 1
    assert not Refusal.unscoped.exists()


def test_those_of_a_deleted_project_are_dropped(ada: Caller, cy: Caller, hermes: Project) -> None:
    count_refusal(cy, NotAllowed("No."))
    hermes.delete()
    refuse(ada)
    assert Refusal.unscoped.count() == 1


# -- Reading ---------------------------------------------------------------------------------------


def test_each_filter_narrows_the_list(ada: Caller, ben: Caller, time: Any) -> None:
    refuse(ada, "lease:1")
    time.shift(timedelta(hours=2))
    refuse(ben, "lease:2")
    count_refusal(ben, NotAllowed("No."), "decision:k")
    one, two, three = (
        ("ada", "lease:1", "conflict", 1),
        ("ben", "lease:2", "conflict", 1),
        ("ben", "decision:k", "not_allowed", 1),
    )
    assert set(counted(ada)) == {one, two, three}
    assert counted(ada, by="ADA") == counted(ada, until="1h") == counted(ada, ref="lease:1") == [one]
    assert counted(ada, code="not_allowed") == counted(ada, ref="decision:k") == [three]
    assert set(counted(ada, since="1h")) == {two, three}
    assert counted(ada, since="2026-01-05T14:00:01Z") == []
    for wrong in ({"code": "invalid"}, {"since": "soon"}, {"cursor": "x"}):
        with pytest.raises(InvalidInput):
            counted(ada, **wrong)


def test_pages_show_each_row_once(ada: Caller) -> None:
    for n in range(7):
        count_refusal(ada, Conflict("No.", about=f"lease:{n}"))
    WRITER.flush()
    found, cursor = [], None
    while True:
        page = list_refusals(ada.project_id, limit=3, cursor=cursor)
        found += [row["ref"] for row in page.objects()]
        if (cursor := page.next) is None:
            break
    assert sorted(found) == [f"lease:{n}" for n in range(7)]


def test_a_range_and_an_object_are_read_with_times(ada: Caller, ben: Caller, time: Any) -> None:
    refuse(ada)
    time.shift(timedelta(minutes=10))
    refuse(ben)
    [row] = refusals_between(ada.project_id, NOON + timedelta(minutes=5), NOON + timedelta(minutes=15))
    assert (row.name, row.first_at, row.count) == ("ben", NOON + timedelta(minutes=10), 1)
    assert [row.name for row in refusals_of(ada.project_id, "lease:1")] == ["ben", "ada"]


def test_another_projects_refusals_are_not_there(ada: Caller, cy: Caller) -> None:
    refuse(cy)
    assert counted(ada) == []
    assert list(refusals_of(ada.project_id, "lease:1")) == list(refusals_between(ada.project_id)) == []
    assert counted(cy) == [("cy", "lease:1", "conflict", 1)]
