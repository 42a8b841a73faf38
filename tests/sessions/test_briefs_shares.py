"""What a brief shows first: rules of the path, the most urgent rules, decisions before many notes."""

from statistics import mean
from typing import Any

import pytest

from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.text.headings import without_first_headings
from ctxhub.core.text.token_count import count_tokens
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from sessions.briefs.brief import Briefing, pack_briefing
from sessions.briefs.brief import brief as read
from sessions.briefs.packing import AT_MOST, LINE_TOKENS, MUSTS
from sessions.briefs.rows import SHARES, Candidate
from tests.sessions.briefs import AT, brief, refs, row, rows_of
from tests.sessions.test_briefs_packing import CURSOR, many

BUDGETS = pytest.mark.parametrize("budget", [400, 800, 1_500, 5_000])
PROSE = (
    "The quota of a tenant is read once an hour and kept in memory until the next one is due, since it costs."
)


def packed(budget: int, good: float = 0.7, **sections: list[Candidate]) -> Briefing:
    return pack_briefing({name: sections.get(name, []) for name in SHARES}, CURSOR, budget, good=good)


def tokens_of(briefing: Briefing, section: str) -> int:
    return sum(count_tokens(one.text) + 20 for one in briefing.rows().get(section, ()))


def rule(caller: Caller, text: str, *paths: str, priority: str = "medium") -> str:
    added = add_constraint(caller=caller, category="rule", text=text, paths=list(paths), priority=priority)
    return f"constraint:{added['id']}"


def text_of(answer: dict[str, Any], ref: str) -> str:
    return next(str(row[1]) for section in answer["sections"] for row in section["rows"] if row[0] == ref)


# -- Memories --------------------------------------------------------------------------------------


@BUDGETS
def test_memories_leave_room_while_others_wait(budget: int) -> None:
    best = [row("memories", n, 1.5) for n in range(60)]
    found = packed(
        budget, memories=best, decisions=many("decisions", 60, 0.2), messages=many("messages", 60, 0.2)
    )
    assert 0 < tokens_of(found, "memories") <= budget * AT_MOST["memories"] // 100 + 80
    assert found.answer()["tokens"] > budget - 80


@BUDGETS
def test_memories_take_the_room_that_nobody_waits_for(budget: int) -> None:
    found = packed(budget, memories=many("memories", 200), decisions=many("decisions", 1))
    assert found.answer()["tokens"] > budget - 80
    assert set(found.rows()) == {"decisions", "memories"}


def test_a_memory_that_names_the_path_does_not_pass_a_decision(ada: Caller, ben: Caller) -> None:
    for number in range(30):
        add_memory(caller=ben, title=f"Note {number} of quotas", content=PROSE, paths=["src/quota/**"])
    keys = [f"quota/{number}" for number in range(20)]
    for key in keys:
        set_decision(caller=ben, key=key, value=f"{PROSE} {key}")
    answer = brief(ada, "Read the quota of a tenant in src/quota/read.py", budget_tokens=800)
    assert len(refs(answer, "decisions")) >= 6
    memories = sum(size(row) for row in rows_of(answer, "memories"))
    assert memories <= 0.3 * 800


# -- Constraints -----------------------------------------------------------------------------------


def test_the_most_specific_rule_of_a_path_is_in_every_brief(ada: Caller, ben: Caller) -> None:
    for number in range(70):
        rule(ben, f"Something critical, number {number}, that holds wherever you are.", priority="critical")
        rule(ben, f"Something else, number {number}, of all of the sources.", "src/**", priority="high")
    rule(ben, "Python alone.", "src/quota/*.py", priority="low")
    exact = rule(ben, "Ask the owners.", "src/quota/read.py", priority="low")
    for budget in (300, 800, 1_500):
        assert exact in refs(brief(ada, "Mend src/quota/read.py", budget_tokens=budget), "constraints")


@pytest.mark.parametrize("budget", [400, 800, 1_500])
def test_what_must_be_read_takes_twice_the_share_of_constraints(budget: int) -> None:
    rows = [row("constraints", n, 1.0, is_must=True, is_named=n > 20) for n in range(90)]
    found = packed(budget, constraints=rows, decisions=many("decisions", 300))
    assert tokens_of(found, "constraints") <= max(budget * MUSTS // 100, 200) + 60
    assert found.packed.omitted()["constraints"] == 90 - len(found.rows()["constraints"])


def test_the_most_urgent_rules_stand_in_a_line_each_whatever_the_task_is(ada: Caller, ben: Caller) -> None:
    for number in range(30):
        set_decision(caller=ben, key=f"quota/{number}", value=f"{PROSE} {number}")
        rule(ben, f"Buttons {number} are blue, unless somebody has asked for red ones, which is seldom.")
    urgent = [
        rule(ben, f"Deploys {number} are announced a day before.", priority="high") for number in range(2)
    ]
    answer = brief(ada, "Read the quota of a tenant once an hour")
    assert refs(answer, "constraints")[:2] == urgent[::-1]
    texts = [count_tokens(row[1]) for row in rows_of(answer, "constraints")]
    assert len(texts) >= 5
    assert max(texts) <= LINE_TOKENS
    tokens = sum(size(row) for row in rows_of(answer, "constraints"))
    assert tokens <= 1_500 * SHARES["constraints"] // 100 + 40
    assert len(refs(answer, "decisions")) >= 8


def test_what_must_be_read_is_cut_where_it_does_not_fit() -> None:
    long = Candidate("constraints", "constraint:1", lambda most: "word " * most, "ada", AT, 1.0, is_must=True)
    found = packed(110, constraints=[long], decisions=many("decisions", 3))
    assert [len(one.text.split()) for one in found.rows()["constraints"]] == [12]


# -- Rows ------------------------------------------------------------------------------------------


def test_a_decision_says_what_and_why_and_then_what_matches(ada: Caller, ben: Caller) -> None:
    value = (
        f"# Quotas\n\nQuotas come from the ledger. {PROSE * 3} The zebra cache is warmed at start. {PROSE}"
    )
    reason = f"## Why\n\nThe ledger is the one place that is right. {PROSE * 3}"
    set_decision(caller=ben, key="quota/source", value=value, rationale=reason)
    for number in range(60):
        set_decision(caller=ben, key=f"zebra/{number}", value=f"The zebra cache is warm {number}. {PROSE}")
    text = text_of(brief(ada, "warm the zebra cache at start", budget_tokens=500), "decision:quota/source")
    assert text.startswith("Quotas come from the ledger.")
    assert "The ledger is the one place that is right." in text
    assert "zebra cache is warmed" in text
    assert "#" not in text
    assert count_tokens(text) <= 60


def test_a_heading_alone_is_shown() -> None:
    assert without_first_headings("# One\n\nTwo\n=====\n\nThree.\n# Four") == "Three.\n# Four"
    assert without_first_headings("# One\n## Two\n") == "# One\n## Two\n"
    assert without_first_headings("None.\n# One") == "None.\n# One"


def test_with_room_no_row_is_cut(ada: Caller, ben: Caller) -> None:
    content = " ".join(f"Sentence {number} says what the quota is." for number in range(150))
    add_memory(caller=ben, title="Quotas", content=content)
    set_decision(caller=ben, key="quota/source", value=PROSE * 6, rationale=content[:900])
    rule(ben, PROSE * 4)
    answer = brief(ada, "the quota", budget_tokens=20_000)
    assert answer["tokens"] < 4_000
    shown = [row[1] for section in answer["sections"] for row in section["rows"]]
    assert len(shown) == 3
    assert all("…" not in text for text in shown)
    assert content in shown[2]
    assert content[:900].strip() in shown[1]


def test_the_best_row_is_lengthened_first(ada: Caller, ben: Caller) -> None:
    add_memory(caller=ben, title="Tenants", content=f"The quota of a tenant. {PROSE * 60}")
    add_memory(
        caller=ben,
        title="Others",
        content=f"Nothing of them. A tenant. {PROSE.replace('quota', 'rest') * 60}",
    )
    first, second = (row[1] for row in rows_of(brief(ada, "quota of a tenant"), "memories"))
    assert count_tokens(first) > 2 * count_tokens(second) > 400


def test_by_and_at_cost_twelve_tokens_a_row(ada: Caller, ben: Caller) -> None:
    names = [
        "ada-frontend",
        "claude-code-backend-worker-7",
        "ben",
        "codex",
        "系统管理员的代理人",
        "cursor@laptop-of-dee",
    ]
    for number in range(24):
        caller = Caller(ben.project, names[number % 6])
        set_decision(caller=caller, key=f"quota/{number}", value=f"{PROSE} {number}")
        rule(caller, f"Quotas {number}.")
    answer = brief(ada, "quota of a tenant")
    rows = [row for section in answer["sections"] for row in section["rows"]]
    costs = [size(row) - size(row[:2]) for row in rows]
    assert mean(costs) <= 12
    assert max(costs) <= 13
    known = answer["agents"]
    assert {known.get(row[2], row[2]) for row in rows} == set(names)
    assert set(known.values()) == {names[1], names[4], names[5]}
    assert all(row[3].count("-") == 2 and len(row[3]) == 10 for row in rows)


def test_a_short_name_is_none_that_an_agent_has(ada: Caller, ben: Caller) -> None:
    for name in ("a1", "claude-code-backend-worker-7"):
        set_decision(caller=Caller(ben.project, name), key=f"quota/{name}", value=PROSE)
    answer = brief(ada, "quota of a tenant")
    assert answer["agents"] == {"a2": "claude-code-backend-worker-7"}
    assert {row[2] for row in rows_of(answer, "decisions")} == {"a1", "a2"}


def test_the_text_form_has_names_in_full(ada: Caller, ben: Caller) -> None:
    set_decision(caller=Caller(ben.project, "claude-code-backend-worker-7"), key="quota/1", value=PROSE)
    assert "(claude-code-backend-worker-7, " in read(caller=ada, is_text=True).text()
