"""Completion of the arguments of prompts and of the variables of URI templates."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.agents import register_without_waiting
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Project
from ctxhub.core.registry import all_nouns
from ctxhub.mcp.json_rpc import RpcError
from ctxhub.mcp.offers.completion import OF_PROMPTS, OF_TEMPLATES, variables_of
from ctxhub.mcp.offers.prompts import PROMPTS
from ctxhub.mcp.offers.resources import TEMPLATES
from ctxhub.mcp.requests import Surface
from ctxhub.toolbox.dispatch import call
from tests.core.test_nulls import create_one_of_each
from tests.mcp.everywhere import Everywhere, asked
from tests.sessions.given import decide

pytestmark = [pytest.mark.django_db(transaction=True)]

KEY = ("ctxhub://decision/{+key}", "key")
KIND, ID = ("ctxhub://{kind}/{id}", "kind"), ("ctxhub://{kind}/{id}", "id")
AGENT = ("ctxhub://inbox/{agent}", "agent")
TO, SESSION = ("handoff", "to"), ("handoff", "session")
LAYER, TAGS = ("review_decisions", "layer"), ("review_decisions", "tags")
Place = tuple[str, str]


def params(place: Place, value: str, **given: str) -> dict[str, Any]:
    of, name = place
    reference = {"type": "ref/resource", "uri": of} if "/" in of else {"type": "ref/prompt", "name": of}
    context = {"context": {"arguments": given}} if given else {}
    return {"ref": reference, "argument": {"name": name, "value": value}, **context}


def completion(caller: Caller, place: Place, value: str, **given: str) -> dict[str, Any]:
    found: dict[str, Any] = asked(caller, "completion/complete", **params(place, value, **given))[
        "completion"
    ]
    assert len(found["values"]) <= 100
    assert found["total"] >= len(found["values"])
    assert found["hasMore"] is (found["total"] > len(found["values"]))
    return found


def values(caller: Caller, place: Place, value: str = "", **given: str) -> list[str]:
    found: list[str] = completion(caller, place, value, **given)["values"]
    return found


def refused(caller: Caller, surface: Surface | None = None, **asked_for: Any) -> RpcError:
    with pytest.raises(RpcError) as raised:
        asked(caller, "completion/complete", surface, **asked_for)
    return raised.value


def seen(project: Project, *names: str) -> None:
    for name in names:
        assert register_without_waiting(Caller(project, name))


# -- What is completed -----------------------------------------------------------------------------


def test_every_argument_and_variable_has_a_source() -> None:
    assert OF_PROMPTS.keys() == {argument.name for prompt in PROMPTS for argument in prompt.arguments}
    assert OF_TEMPLATES.keys() == {name for template, *_ in TEMPLATES for name in variables_of(template)}
    assert all(
        f"{{{name}}}" in template.replace("+", "")
        for template, *_ in TEMPLATES
        for name in variables_of(template)
    )


def test_values_are_the_same_everywhere(everywhere: Everywhere) -> None:
    decide(everywhere.caller)
    found = everywhere.result("completion/complete", **params(KEY, "api"))
    assert found == {"completion": {"values": ["api/auth/method"], "total": 1, "hasMore": False}}
    everywhere.result("completion/complete", **params(ID, "", kind="decision"))
    everywhere.result("completion/complete", **params(LAYER, "d"))


def test_keys_that_begin_so_come_first_then_what_is_like_it(ada: Caller) -> None:
    for key in ("web/login", "api/login/limit", "login/page", "login", "db/pool"):
        decide(ada, f"of {key.replace('/', ' ')}", key=key)
    found = values(ada, KEY, "login")
    assert found[:2] == ["login", "login/page"]
    assert {*found[2:]} == {"web/login", "api/login/limit"}
    assert values(ada, KEY)[0] == "api/login/limit"
    assert len(values(ada, KEY)) == 5
    assert values(ada, KEY, "Web/") == ["web/login"]
    assert values(ada, KEY, "zzz") == []


def test_agents_are_found_by_their_beginning_and_by_likeness(ada: Caller, apollo: Project) -> None:
    seen(apollo, "codex", "Claude", "claude-two", "cursor")
    assert values(ada, TO, "cla") == ["Claude", "claude-two"]
    assert values(ada, TO, "cluade") == ["Claude", "claude-two"]
    assert values(ada, TO, "two") == ["claude-two"]
    assert values(ada, TO, "clade") == ["Claude", "claude-two"]
    assert values(ada, TO, "zebra") == []
    assert {*values(ada, TO)} == {"codex", "Claude", "claude-two", "cursor"}


def test_inboxes_are_those_that_the_caller_may_read(ada: Caller, apollo: Project) -> None:
    seen(apollo, "ben", "fred")
    Agent.objects.in_project(apollo).filter(name="fred").update(kind=Agent.Kind.HUMAN)
    assert values(ada, AGENT) == ["ben"]
    assert values(ada, TO) == ["ben", "fred"]
    assert values(Caller(apollo, "ada", pinned=True), AGENT) == ["ada"]


def test_layers_and_tags(ada: Caller) -> None:
    decide(ada, tags=["authors", "api"])
    assert values(ada, LAYER, "DATA") == ["data"]
    assert values(ada, LAYER, "infra") == ["infrastructure"]
    assert values(ada, LAYER, "busniess") == ["business"]
    assert values(ada, TAGS, "auth")[:3] == ["authentication", "authorization", "authors"]


def test_of_several_tags_the_last_is_completed(ada: Caller) -> None:
    decide(ada, tags=["authors", "api"])
    assert values(ada, TAGS, "api, author") == ["api, authorization", "api, authors"]
    found = completion(ada, TAGS, "api,authors, a")
    assert "api,authors, api" not in found["values"]
    assert "api,authors, authentication" in found["values"]


def test_kinds_are_those_that_open(ada: Caller) -> None:
    assert values(ada, KIND) == [noun.kind for noun in all_nouns() if noun.open]
    assert values(ada, KIND, "mem") == ["memory"]
    assert values(ada, KIND, "desicion") == ["decision"]


def test_ids_are_those_of_the_kind_that_was_chosen(ada: Caller, ben: Caller) -> None:
    made = create_one_of_each(ada, ben)
    assert values(ada, ID, kind="decision") == ["heir", "k", "old"]
    assert values(ada, ID, kind="resource") == ["src/a.py"]
    assert values(ada, ID, kind="context") == ["shop"]
    assert values(ada, ID, "incid", kind=" Template ") == values(ada, ID, "icnident", kind="template")
    assert "incident" in values(ada, ID, "incid", kind="template")
    assert values(ada, ID, kind="memory") == [str(made["other"]), str(made["memory"])]
    assert values(ada, ID) == []
    for noun in all_nouns():
        if noun.open:
            for name in values(ada, ID, kind=noun.kind):
                assert call(ada, "get", {"refs": [f"{noun.kind}:{name}"]})["missing"] == []
            assert values(ada, ID, kind=noun.kind), noun.kind


def test_ids_are_found_by_their_digits_and_by_the_words_of_what_they_name(ada: Caller) -> None:
    ids = [call(ada, "memory", {"title": f"Note {n}", "content": f"Number {n}."})["id"] for n in range(12)]
    beginning = str(ids[0])[0]
    expected = [str(row_id) for row_id in reversed(ids) if str(row_id).startswith(beginning)]
    assert values(ada, ID, beginning, kind="memory") == expected
    assert values(ada, ID, "9" * 30, kind="memory") == []
    pooling = call(ada, "memory", {"title": "Pooling of connections", "content": "Ten of them."})["id"]
    assert values(ada, ID, "pooling", kind="memory") == [str(pooling)]


def test_sessions_are_found_by_id_and_by_name(ada: Caller) -> None:
    first = call(ada, "session", {"action": "save", "summary": "One."})["session"]
    named = call(ada, "session", {"action": "save", "session": "evening", "summary": "Two."})["session"]
    assert values(ada, SESSION)[:3] == [str(named), str(first), "evening"]
    assert values(ada, SESSION, "eve")[0] == "evening"


def test_a_task_is_free_text(ada: Caller) -> None:
    decide(ada)
    assert values(ada, ("start", "task"), "api") == []


# -- Bounds ----------------------------------------------------------------------------------------


def test_at_most_100_are_given_and_1000_counted(ada: Caller) -> None:
    for start in range(0, 150, 50):
        items = [{"key": f"api/k{n:04}", "value": "x"} for n in range(start, start + 50)]
        call(ada, "decision", {"action": "set_batch", "items": items})
    found = completion(ada, KEY, "api/")
    assert found["values"] == [f"api/k{n:04}" for n in range(100)]
    assert (found["total"], found["hasMore"]) == (150, True)
    Agent.objects.in_project(ada.project).bulk_create(
        [Agent(project=ada.project, name=f"a{n:04}", folded=f"a{n:04}") for n in range(1_200)]
    )
    assert completion(ada, TO, "a")["total"] == 1_000


def test_queries_are_few_and_do_not_grow(ada: Caller, ben: Caller) -> None:
    create_one_of_each(ada, ben)
    places: list[tuple[Place, dict[str, str]]] = [
        *((place, {}) for place in (KEY, KIND, AGENT, TO, SESSION, LAYER, TAGS)),
        *((ID, {"kind": noun.kind}) for noun in all_nouns() if noun.open),
    ]

    def counts() -> list[int]:
        found = []
        for place, given in places:
            for typed in ("", "a", "zzz"):
                with CaptureQueriesContext(connection) as queries:
                    values(ada, place, typed, **given)
                found.append(len(queries))
        return found

    decide(ada, "a", key="a/a", tags=["a"])
    call(ada, "memory", {"title": "a a", "content": "a a", "context": "aa"})
    few = counts()
    for start in (0, 50):
        items = [{"key": f"a/{n}", "value": f"a {n}", "tags": [f"a{n}"]} for n in range(start, start + 50)]
        call(ada, "decision", {"action": "set_batch", "items": items})
    for n in range(20):
        call(ada, "memory", {"title": f"a {n}", "content": f"a {n}", "context": f"a{n}"})
    many = counts()
    assert max(many) <= 12
    assert [after <= before + 1 for before, after in zip(few, many, strict=True)] == [True] * len(few)


@pytest.mark.parametrize(
    "typed", ["%", "_", "\\", "'", "*", "\0", "[a", "ａ", "\U0010ffff", "x" * 5_000, " "]
)
def test_whatever_is_typed_is_text(ada: Caller, ben: Caller, typed: str) -> None:
    create_one_of_each(ada, ben)
    for place in (KEY, KIND, AGENT, TO, SESSION, LAYER, TAGS):
        values(ada, place, typed)
    for noun in all_nouns():
        if noun.open:
            values(ada, ID, typed, kind=noun.kind)
    assert values(ada, KEY, "_") == values(ada, KEY, "%") == []


# -- Errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "given", "says"),
    [
        (("begin", "task"), {}, "prompt: 'begin' is not known; use one of: start"),
        (("start", "tsak"), {}, "Did you mean 'task'?"),
        (("ctxhub://decision/{key}", "key"), {}, "Did you mean 'ctxhub://decision/{+key}'?"),
        (("ctxhub://brief", "task"), {}, "template: 'ctxhub://brief' is not known"),
        (("ctxhub://{kind}/{id}", "name"), {}, "use one of: kind, id."),
        (ID, {"kind": "memmory"}, "Did you mean 'memory'?"),
        (ID, {"kind": "tag"}, "kind: 'tag' is not known"),
    ],
)
def test_what_is_not_there_to_complete_is_refused(
    everywhere: Everywhere, place: Place, given: dict[str, str], says: str
) -> None:
    earlier, later, message = everywhere.error("completion/complete", **params(place, "", **given))
    assert (earlier, later) == (-32602, -32602)
    assert says in message


def test_only_what_is_offered_is_completed(ada: Caller, apollo: Project) -> None:
    only = Surface(only=("message",))
    assert refused(ada, only, **params(KEY, "")).code == -32602
    assert asked(ada, "completion/complete", only, **params(AGENT, ""))["completion"]["values"] == []
    writer = Caller(apollo, "ada", scopes=frozenset({"write"}))
    for place in (KEY, ID, AGENT, TO, LAYER):
        assert "error" in refused(writer, **params(place, "")).data


# -- Strangers -------------------------------------------------------------------------------------


def test_nothing_of_another_project_is_told(ada: Caller, ben: Caller, cy: Caller) -> None:
    create_one_of_each(ada, ben)
    decide(ada, tags=["apollos"])
    seen(cy.project, "cy")
    assert values(cy, TO) == ["cy"]
    assert values(cy, AGENT, "ada") == []
    assert "apollos" not in values(cy, TAGS, "apollo")
    for place in (KEY, SESSION):
        for typed in ("", "k", "api"):
            assert values(cy, place, typed) == []
    for noun in all_nouns():
        if noun.open:
            for typed in ("", "1", "k", "src", "Redis", "incident"):
                builtin = noun.kind == "template"
                assert builtin or values(cy, ID, typed, kind=noun.kind) == []
    assert "incident" not in values(cy, ID, kind="template")
