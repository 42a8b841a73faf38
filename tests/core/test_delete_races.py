"""Many agents delete the same objects at once: each is deleted once, with one event."""

from collections import Counter

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.memories.services import add_memory
from tests.crowd import Crowd, ToolCall
from tests.tallies import counted, tallied

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 8


def test_each_is_deleted_once(crowd: Crowd, ada: Caller, apollo: Project) -> None:
    ids = [add_memory(caller=ada, title=f"{n}", content="x", context="shop")["id"] for n in range(12)]
    refs = [f"memory:{row_id}" for row_id in ids]
    refs += ["context:shop", *(f"decision:k/{n}" for n in range(6))]
    for n in range(6):
        call(ada, "decision", {"action": "set", "key": f"k/{n}", "value": n})
    orders = [refs[agent:] + refs[:agent] for agent in range(AGENTS)]
    answers = crowd([[ToolCall("delete", {"refs": order, "format": "objects"})] for order in orders])
    results = Counter(
        item["ref"] for [answer] in answers for item in answer.get("items", ()) if item["result"] == "deleted"
    )
    assert results == dict.fromkeys(refs, 1)
    refused = [answer for [answer] in answers if "error" in answer]
    assert {answer["error"] for answer in refused} <= {"not_found"}
    assert Event.objects.in_project(apollo).filter(verb="deleted").count() == len(refs)
    assert tallied(apollo) == counted(apollo)
