"""hub confirm: what is stale still holds."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Event
from ctxhub.toolbox.dispatch import call
from tests.core.stale import change, counts, write_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def refs(ada: Caller, ben: Caller) -> list[str]:
    """The refs of a stale decision, constraint and memory."""
    refs = write_rows(ada, ["src/a.py", "src/b.py"])
    change(ben, "src/a.py", "src/b.py")
    return refs


def confirm(caller: Caller, refs: list[str], **more: Any) -> int:
    answer: dict[str, int] = call(caller, "hub", {"action": "confirm", "refs": refs, **more})
    return answer["confirmed"]


def events(caller: Caller) -> list[tuple[str, str, str, str]]:
    found = Event.objects.in_project(caller.project_id).filter(verb="confirmed").order_by("pk")
    return [(str(each.agent), each.noun, each.ref, each.data["note"]) for each in found]


def test_what_is_confirmed_is_stale_no_more(ada: Caller, ben: Caller, refs: list[str]) -> None:
    assert confirm(ben, refs[:2]) == 2
    assert counts(ada) == {"memory": 2}


def test_each_records_an_event(ada: Caller, ben: Caller, refs: list[str]) -> None:
    confirm(ben, refs)
    kinds = ["constraint", "decision", "memory"]
    assert [(agent, noun) for agent, noun, _, _ in events(ada)] == [("ben", kind) for kind in kinds]
    assert sorted(ref for *_, ref, _ in events(ada)) == sorted(refs)
    assert all(note.startswith("stale: 2 changes since 20") for *_, note in events(ada))


def test_what_is_not_stale_is_not_counted(ada: Caller, ben: Caller, refs: list[str]) -> None:
    assert [confirm(ada, refs[:1]), confirm(ada, [*refs, refs[0]]), confirm(ada, refs)] == [1, 2, 0]
    assert len(events(ada)) == 3


def test_changes_not_counted_yet_are_confirmed_too(ada: Caller, ben: Caller, refs: list[str]) -> None:
    call(ben, "file", {"action": "record", "path": "src/a.py", "change": "modified"})
    confirm(ada, refs[:1])
    assert counts(ada) == {"constraint": 3, "memory": 3}


def test_the_next_change_makes_it_stale_again(ada: Caller, ben: Caller, refs: list[str]) -> None:
    confirm(ada, refs)
    change(ben, "src/a.py")
    assert counts(ada) == {"decision": 1, "constraint": 1, "memory": 1}


@pytest.mark.parametrize(
    ("wrong", "error", "named"),
    [
        (["decision:nothing"], NotFound, ["decision:nothing"]),
        (["decision:nothing", "memory:99"], NotFound, ["decision:nothing", "memory:99"]),
        (["memory:x"], NotFound, ["memory:x"]),
        (["message:1"], InvalidInput, ["message"]),
        (["context:general"], InvalidInput, ["context"]),
        (["unknown:1"], InvalidInput, ["unknown"]),
        (["api/auth"], InvalidInput, ["api/auth"]),
    ],
    ids=str,
)
def test_a_wrong_ref_confirms_nothing(
    ada: Caller, refs: list[str], wrong: list[str], error: type[CtxhubError], named: list[str]
) -> None:
    with pytest.raises(error) as refused:
        confirm(ada, [*refs, *wrong])
    assert all(name in refused.value.message for name in named)
    assert counts(ada) == {"decision": 2, "constraint": 2, "memory": 2}


@pytest.mark.parametrize("count", [0, 51])
def test_one_to_fifty_refs_are_confirmed(ada: Caller, count: int) -> None:
    with pytest.raises(InvalidInput, match="name 1 to 50"):
        confirm(ada, [f"memory:{n}" for n in range(count)])


def test_a_stranger_and_a_reader_confirm_nothing(ada: Caller, cy: Caller, refs: list[str]) -> None:
    with pytest.raises(NotFound):
        confirm(cy, refs)
    with pytest.raises(NotAllowed):
        confirm(replace(ada, scopes=frozenset({READ})), refs)
    assert counts(ada) == {"decision": 2, "constraint": 2, "memory": 2}


def test_the_log_finds_confirmations_by_the_action(ada: Caller, refs: list[str]) -> None:
    confirm(ada, refs)
    for verb in ("confirm", "confirmed"):
        found = call(ada, "hub", {"action": "activity", "verbs": [verb], "format": "objects"})["items"]
        assert {item["verb"] for item in found} == {"confirmed"}
        assert len(found) == 3


def test_what_was_confirmed_is_not_new_to_others(ada: Caller, ben: Caller, refs: list[str]) -> None:
    cursor = call(ben, "brief", {})["cursor"]
    confirm(ada, refs)
    assert call(ben, "brief", {"since": cursor})["sections"] == []


def test_many_take_as_few_statements_as_one(ada: Caller, ben: Caller) -> None:
    items = [{"key": f"k{n}", "value": n, "paths": ["src/**"]} for n in range(50)]
    call(ada, "decision", {"action": "set_batch", "items": items})

    def statements(refs: list[str]) -> int:
        change(ben, "src/a.py")
        with CaptureQueriesContext(connection) as queries:
            assert confirm(ada, refs) == len(refs)
        return len(queries)

    assert statements(["decision:k0"]) == statements([f"decision:k{n}" for n in range(50)])
