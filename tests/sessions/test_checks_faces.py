"""Checks over MCP and REST: budgets as sent, forms, errors, scopes."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Project
from ctxhub.core.text.invisible import without_invisible
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import as_text, call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from messaging.messages.services import send_message
from tests.hub import LiveHub, McpClient, RestClient
from tests.sessions.briefs import BREAKOUTS, TEXTS, check
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

SECTIONS = ("constraints", "decisions", "leases", "changes")
BUDGETS = (60, 61, 80, 120, 149, 150, 250, 400, 800, 2_000, 20_000)


def fill(ben: Caller) -> None:
    """22 rows of each section that bear on src, in several languages and forms."""
    texts = [f"{number} {text}" for number, text in enumerate([*TEXTS, *BREAKOUTS, *TEXTS])][:22]
    for number, text in enumerate(texts):
        priority = "critical" if number % 5 == 0 else "low"
        add_constraint(caller=ben, category="c", text=text, paths=["src/**"], priority=priority)
        set_decision(caller=ben, key=f"k{number}", value=text, paths=["src/**"])
        acquire_lease(caller=ben, paths=["src/**", f"lib/{number}"], exclusive=False, reason=text)
        record_change(caller=ben, path=f"src/{number}.py", change="modified", description=text)


def urgent(ben: Caller) -> None:
    send_message(caller=ben, text="Stop.", to=["ada"], priority="critical")


# -- Budgets and forms -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["rows", "objects"])
@pytest.mark.parametrize("mail", [0, 1])
def test_answers_have_at_most_their_budget(mail: int, form: str, ada: Caller, ben: Caller) -> None:
    fill(ben)
    if mail:
        urgent(ben)
    for budget in BUDGETS:
        answer = check(ada, "src/**", budget_tokens=budget, format=form, intent="sessions in Redis")
        assert count_tokens(as_text(answer)) <= budget
        assert (answer["clear"], answer.get("mail", 0)) == (False, mail)


def test_the_budget_is_800_tokens_if_none_is_given(
    ada: Caller, ben: Caller, ada_rest: RestClient, ada_mcp: McpClient
) -> None:
    fill(ben)
    answers = {budget: check(ada, "src/**", budget_tokens=budget) for budget in (700, 800, 900)}
    assert answers[700] != answers[800] != answers[900]
    assert check(ada, "src/**") == answers[800]
    assert ada_mcp.call("check", paths=["src/**"]) == answers[800]
    by_rest = ada_rest.get("check/", paths="src/**").body
    assert by_rest == ada_rest.get("check/", paths="src/**", budget_tokens=800).body
    assert by_rest != ada_rest.get("check/", paths="src/**", budget_tokens=900).body


def test_800_is_the_declared_default() -> None:
    [action] = all_tools()["check"].actions.values()
    assert {a.name: a.default for a in action.arguments.all}["budget_tokens"] == 800


def test_over_rest_too(ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    fill(ben)
    for budget in BUDGETS:
        answer = ada_rest.get("check/", paths="src/**", budget_tokens=budget).body
        assert count_tokens(as_text(answer)) <= budget
        assert set(answer) == {"clear", *SECTIONS, "omitted"}


def test_rows_and_omitted_add_up(ada: Caller, ben: Caller) -> None:
    fill(ben)
    for budget in BUDGETS:
        answer = check(ada, "src/**", budget_tokens=budget)
        counts = [answer.get(name, {"count": 0})["count"] for name in SECTIONS]
        if isinstance(answer["omitted"], int):  # Else there is no room for the row that decides.
            assert (budget < 100, answer["omitted"] + sum(counts)) == (True, 4 * 22)
        else:
            left = [answer["omitted"].get(name, 0) for name in SECTIONS]
            assert [sum(both) for both in zip(left, counts, strict=True)] == [22] * 4


def test_who_is_there_comes_before_what_must_hold(ada: Caller, ben: Caller) -> None:
    for number in range(20):
        add_constraint(
            caller=ben, category="c", text=f"A long rule {number}. " * 9, priority="low", paths=["src/"]
        )
    acquire_lease(caller=ben, paths=["src/**"])
    answer = check(ada, "src/a.py", budget_tokens=200)
    assert answer["leases"]["count"] == 1


def test_objects_have_the_names_of_the_columns(ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    set_decision(caller=ben, key="a", value="v", paths=["src/a.py"])
    [item] = check(ada, "src/a.py", format="objects")["decisions"]["items"]
    assert list(item) == ["ref", "text", "by", "at", "why"]
    assert ada_rest.get("check/", paths="src/a.py").body == {
        "clear": True,
        "constraints": [],
        "decisions": [item],
        "leases": [],
        "changes": [],
    }


# -- REST and MCP ----------------------------------------------------------------------------------


def test_paths_come_in_the_query_or_in_a_body(ben: Caller, ada_rest: RestClient, ada_mcp: McpClient) -> None:
    fill(ben)
    arguments: dict[str, Any] = {"paths": ["src/1.py", "docs/**"], "intent": "Redis", "budget_tokens": 900}
    got, posted = ada_rest.get("check/", **arguments), ada_rest.post("check/", arguments)
    assert (got.status, posted.status) == (200, 200)
    assert got.body == posted.body
    assert [row["text"].split(":")[0] for row in got.body["changes"]] == ["src/1.py"]
    assert ada_mcp.call("check", **arguments)["clear"] is False


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"paths": []},
        {"paths": ["src/a.py"], "budget_tokens": 59},
        {"paths": ["src/a.py"], "budget_tokens": 20_001},
        {"paths": ["src/a.py"], "budget_tokens": "x"},
        {"paths": ["src/a.py"], "intent": 5},
        {"paths": ["src/a.py"], "intent": "x" * 65_537},
        {"paths": ["src/a.py"], "intent": "a\x00"},
        {"paths": ["../a.py"]},
        {"paths": [["src"]]},
        {"paths": {"a": 1}},
        {"paths": ["a"] * 51},
        {"path": "src/a.py", "x": 1},
        {"paths": ["src/a.py"], "since": "2h"},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_bad_input_is_refused(arguments: dict[str, Any], ada: Caller, ada_rest: RestClient) -> None:
    with pytest.raises(InvalidInput):
        call(ada, "check", arguments)
    reply = ada_rest.post("check/", arguments)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


def test_paths_may_be_one_text_or_json(ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    acquire_lease(caller=ben, paths=["src/a.py"])
    for paths in ("src/a.py", '["src/a.py"]', ["src/a.py"]):
        assert call(ada, "check", {"paths": paths})["clear"] is False
    assert ada_rest.get("check/", paths=["docs/b.md", "src/a.py"]).body["clear"] is False


# -- Rights ----------------------------------------------------------------------------------------


def test_strangers_see_nothing_of_it(ben: Caller, cy: Caller, cy_rest: RestClient) -> None:
    fill(ben)
    assert check(cy, "src/**", intent="Redis") == {"clear": True}
    assert cy_rest.get("check/", paths="src/**").body["clear"] is True
    for method, body in (("GET", None), ("POST", {"paths": ["src/**"]})):
        assert cy_rest.send(method, "/api/v1/projects/apollo/check/?paths=src", body).status == 404


def test_a_reader_may_ask_and_a_writer_alone_may_not(apollo: Project, hub: LiveHub) -> None:
    for scopes, status in (([READ], 200), ([WRITE], 403)):
        client = hub.rest(create_token(project=apollo, agent="rita", scopes=scopes).secret)
        assert client.get("check/", paths="a.py").status == status
        assert client.post("check/", {"paths": ["a.py"]}).status == status
    with pytest.raises(NotAllowed):
        check(Caller(project=apollo, agent="rita", scopes=frozenset({WRITE})), "a.py")


def test_a_check_writes_nothing(ada: Caller, ben: Caller, ada_rest: RestClient) -> None:
    fill(ben)
    before = ada_rest.get("activity/").body
    ada_rest.post("check/", {"paths": ["src/**"]})
    check(ada, "src/**")
    assert ada_rest.get("activity/").body == before


def test_content_stays_in_its_row(ada: Caller, ben: Caller) -> None:
    for hostile in BREAKOUTS:
        category = without_invisible(hostile[:50]).strip()
        add_constraint(caller=ben, category=category, text=hostile, paths=["src/**"])
    for row in check(ada, "src/a.py", budget_tokens=20_000)["constraints"]["rows"]:
        assert len(row[1].splitlines()) == 1


# -- What decides ----------------------------------------------------------------------------------


def crowd(ben: Caller) -> str:
    """Much that bears on src, and one exclusive lease that ends last, with a long reason: its ref."""
    fill(ben)
    for number in range(20):
        rule = f"A long rule {number}. " * 9
        add_constraint(caller=ben, category="c", text=rule, priority="critical", paths=["src/**"])
    paths = [*(f"lib/some/folder/{number}/**" for number in range(20)), "app/**"]
    held = acquire_lease(caller=ben, paths=paths, minutes=600, reason="Everything moves. " * 20)
    return f"lease:{held['lease_id']}"


@pytest.mark.parametrize("mail", [0, 1])
def test_the_lease_that_decides_is_in_every_answer(mail: int, ada_mcp: McpClient, ben: Caller) -> None:
    lease = crowd(ben)
    if mail:
        urgent(ben)
    for budget in BUDGETS:
        answer = ada_mcp.call("check", paths=["src/**", "app/a.py"], budget_tokens=budget, format="objects")
        assert count_tokens(as_text(answer)) <= budget
        first = answer["leases"]["items"][0]
        assert (answer["clear"], first["ref"], first["by"]) == (False, lease, "ben"), budget
        assert first["why"].startswith("until ")


def test_over_rest_from_a_little_more(ada_rest: RestClient, ben: Caller) -> None:
    lease = crowd(ben)
    for budget in BUDGETS[2:]:
        answer = ada_rest.get("check/", paths=["src/**", "app/a.py"], budget_tokens=budget).body
        assert count_tokens(as_text(answer)) <= budget
        assert (answer["clear"], answer["leases"][0]["ref"]) == (False, lease), budget


def test_a_shorter_row_of_it_comes_as_columns_too(ada: Caller, ben: Caller) -> None:
    lease = crowd(ben)
    answer = check(ada, "src/**", "app/a.py", budget_tokens=70)
    assert answer["leases"]["columns"] == ["ref", "by", "why"]
    assert answer["leases"]["rows"][0][:2] == [lease, "ben"]


def test_of_several_that_decide_as_many_come_as_fit(ada: Caller, ben: Caller) -> None:
    for number in range(30):
        acquire_lease(caller=ben, paths=[f"src/{number}/**"])
    counts = [check(ada, "src/**", budget_tokens=budget)["leases"]["count"] for budget in (120, 400, 2_000)]
    assert counts == sorted(set(counts))
    for budget, count in zip((120, 400, 2_000), counts, strict=True):
        assert check(ada, "src/**", budget_tokens=budget)["omitted"] == {"leases": 30 - count}


def test_exclusive_leases_come_before_shared_ones(ada: Caller, ben: Caller) -> None:
    crowd(ben)
    answer = check(ada, "src/**", "app/a.py", budget_tokens=20_000)
    assert [row[1].split(":")[0] for row in answer["leases"]["rows"]] == ["exclusive"] + ["shared"] * 19


def test_a_change_that_decides_is_in_every_answer(ada: Caller, ben: Caller) -> None:
    fill(ben)
    newest = check(ada, "src/**")["changes"]["rows"][0][0]
    for budget in BUDGETS:
        assert check(ada, "src/**", budget_tokens=budget)["changes"]["rows"][0][0] == newest, budget
