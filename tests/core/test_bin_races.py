"""Many restore and delete the same objects at once: each comes back once, and nothing is lost."""

from collections import Counter

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import BinItem, BinPart, Event, Project
from ctxhub.toolbox.dispatch import call
from memory.memories.services import add_memory
from memory.models import Decision, Memory
from tests.crowd import Crowd, ToolCall
from tests.tallies import counted, tallied

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 6


def restore(*refs: str) -> ToolCall:
    return ToolCall("delete", {"refs": list(refs), "undo": True, "format": "objects"})


def filled(ada: Caller, count: int) -> list[str]:
    """The refs of as many memories and decisions; the memories lie in one context."""
    ids = [add_memory(caller=ada, title=f"{n}", content="x", context="shop")["id"] for n in range(count)]
    for n in range(count):
        call(ada, "decision", {"action": "set", "key": f"k/{n}", "value": n})
    return [*(f"memory:{row_id}" for row_id in ids), *(f"decision:k/{n}" for n in range(count))]


def test_each_is_restored_once(crowd: Crowd, ada: Caller, apollo: Project) -> None:
    refs = filled(ada, 6)
    call(ada, "delete", {"refs": refs})
    answers = crowd([[restore(*refs[agent:], *refs[:agent])] for agent in range(AGENTS)])
    results = Counter(
        item["ref"]
        for [answer] in answers
        for item in answer.get("items", ())
        if item["result"] == "restored"
    )
    assert results == dict.fromkeys(refs, 1)
    assert {answer["error"] for [answer] in answers if "error" in answer} <= {"not_found"}
    assert Event.objects.in_project(apollo).filter(verb="restored").count() == len(refs)
    assert tallied(apollo) == counted(apollo)
    assert not BinPart.objects.in_project(apollo).exists()


def test_deleting_and_restoring_at_once_loses_nothing(crowd: Crowd, ada: Caller, apollo: Project) -> None:
    """Each of them is either there or in the bin."""
    refs = filled(ada, 4)
    delete = ToolCall("delete", {"refs": ["context:shop", *refs], "format": "objects"})
    undo = restore("context:shop", *refs)
    crowd([[delete, undo, delete] if agent % 2 else [undo, delete, undo] for agent in range(AGENTS)])
    call(ada, "delete", {"refs": ["context:shop", *refs], "dry_run": True})
    for _ in range(2):  # What lay in a context that was deleted after it comes back after that.
        here = Memory.objects.in_project(apollo).count() + Decision.objects.in_project(apollo).count()
        if here < len(refs):
            call(ada, "delete", {"refs": ["context:shop", *refs], "undo": True})
    assert Memory.objects.in_project(apollo).count() == 4
    assert Decision.objects.in_project(apollo).count() == 4
    assert not BinItem.objects.in_project(apollo).exists()
    assert tallied(apollo) == counted(apollo)


def test_a_name_taken_meanwhile_is_one_decision(crowd: Crowd, ada: Caller, apollo: Project) -> None:
    refs = filled(ada, 4)
    keys = [ref for ref in refs if ref.startswith("decision:")]
    call(ada, "delete", {"refs": keys})
    write = [
        ToolCall("decision", {"action": "set", "key": key.removeprefix("decision:"), "value": "new"})
        for key in keys
    ]
    crowd([[restore(*keys)] if agent % 2 else write for agent in range(AGENTS)])
    assert Decision.objects.in_project(apollo).count() == len(keys)
    assert tallied(apollo) == counted(apollo)
