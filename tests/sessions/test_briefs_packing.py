"""Packing of briefs: budgets hold for any rows, what must be read comes first, and sections share."""

import math
import random
from dataclasses import replace
from functools import partial
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.clock import EventCursor
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text
from sessions.briefs.brief import LEAST_BUDGET, MOST_BUDGET, SMALL_BUDGET, Briefing, pack_briefing
from sessions.briefs.packing import FEW_MUSTS, MUSTS, REFUSALS, json_form, pack
from sessions.briefs.rows import SHARES, Candidate
from tests.hostile_texts import CORPUS
from tests.sessions.briefs import in_order, random_sections, row, some_sections
from tests.tokens import o200k

Sections = dict[str, list[Candidate]]

CURSOR = EventCursor(123_456)
CASES = 500
BUDGETS = st.one_of(st.integers(LEAST_BUDGET, 400), st.integers(LEAST_BUDGET, MOST_BUDGET))


def packed(sections: Sections, budget: int = 1_500, mail: int = 0, good: float = 0.0) -> Briefing:
    complete = {name: sections.get(name, []) for name in SHARES}
    return pack_briefing(complete, CURSOR, budget, mail=mail, good=good)


def many(section: str, count: int, score: float = 0.9, *, is_must: bool = False) -> list[Candidate]:
    return [row(section, number, score, is_must=is_must) for number in range(count)]


def chosen(briefing: Briefing) -> dict[str, int]:
    return {name: len(rows) for name, rows in briefing.rows().items()}


# -- Budgets ---------------------------------------------------------------------------------------


@settings(max_examples=500)
@given(some_sections(), BUDGETS, st.sampled_from([0, 1, 3_456]))
def test_answers_of_any_characters_keep_their_budget(sections: Sections, budget: int, mail: int) -> None:
    is_as_said(packed(sections, budget, mail), budget, mail)
    assert count_tokens(pack_briefing(sections, CURSOR, budget, is_text=True).text()) <= budget


def test_answers_of_any_length_keep_their_budget() -> None:
    """Seeded, not by hypothesis, which took ten times as long to make so many rows."""
    for seed in range(CASES):
        draw = random.Random(seed)
        budget = int(math.exp(draw.uniform(math.log(LEAST_BUDGET), math.log(MOST_BUDGET))))
        sections, mail, good = random_sections(seed), draw.choice([0, 1, 3_456]), draw.choice([0.0, 0.7])
        briefing = packed(sections, budget, mail, good)
        is_as_said(briefing, budget, mail)
        is_in_order(briefing, sections)
        text = pack_briefing(sections, CURSOR, budget, is_text=True, good=good).text()
        assert count_tokens(text) <= budget, seed


def is_as_said(briefing: Briefing, budget: int, mail: int) -> None:
    answer = briefing.answer()
    assert answer["tokens"] == count_tokens(as_text(answer)) <= budget
    assert answer.get("mail", 0) == mail


def is_in_order(briefing: Briefing, sections: Sections) -> None:
    """Rows stay in their order, the others are counted, and equal rows give an equal brief."""
    places = {one.place: n for rows in sections.values() for n, one in enumerate(rows)}
    found = {name: [places[one.place] for one in rows] for name, rows in briefing.rows().items()}
    assert all(numbers == sorted(numbers) for numbers in found.values())
    left = {name: len(rows) - len(found.get(name, ())) for name, rows in sections.items()}
    assert briefing.packed.omitted() == {name: count for name, count in left.items() if count}
    copies = {name: in_order(rows) for name, rows in sections.items()}
    again = pack_briefing(copies, CURSOR, briefing.budget, mail=briefing.mail)
    first = pack_briefing(sections, CURSOR, briefing.budget, mail=briefing.mail)
    assert again.answer() == first.answer()


@pytest.mark.parametrize("budget", [60, 149, 150, 151, 1_500])
def test_small_answers_count_what_they_omit_in_one_number(budget: int) -> None:
    briefing = packed({name: many(name, 30) for name in SHARES}, budget)
    omitted = briefing.packed.omitted()
    said = briefing.answer()["omitted"]
    assert said == (omitted if budget >= SMALL_BUDGET else sum(omitted.values()))


@pytest.mark.parametrize("mail", [0, 7])
def test_every_budget_up_to_600_is_kept(mail: int) -> None:
    sections = {name: many(name, 9, 1 - n / 10) for n, name in enumerate(SHARES)}
    for budget in range(LEAST_BUDGET, 600):
        answer = packed(sections, budget, mail).answer()
        assert answer["tokens"] == count_tokens(as_text(answer)) <= budget


def test_the_smallest_budget_has_room_for_the_longest_cursor_and_counts() -> None:
    sections = {name: many(name, 60) for name in SHARES}
    briefing = replace(packed(sections, LEAST_BUDGET), cursor=EventCursor(10**12), mail=99)
    assert briefing.answer()["tokens"] <= LEAST_BUDGET


# -- What must be read -----------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [300, 800, 1_500, 5_000])
def test_what_must_be_read_comes_first(budget: int) -> None:
    sections = {name: many(name, 40) for name in SHARES}
    sections["constraints"] = in_order([*sections["constraints"], row("constraints", 99, 0.1, is_must=True)])
    sections["messages"] = in_order([*sections["messages"], row("messages", 99, 0.1, is_must=True)])
    rows = packed(sections, budget).rows()
    assert [rows[name][0].ref for name in ("constraints", "messages")] == ["constraints:99", "messages:99"]


@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("budget", range(LEAST_BUDGET, 260, 5))
def test_what_must_be_read_is_left_out_only_where_it_does_not_fit(budget: int, is_text: bool) -> None:
    must = row("constraints", 99, 0.1, is_must=True)
    sections = {"constraints": [must], "decisions": [row("decisions", n, 0.9, "Short") for n in range(9)]}
    briefing = pack_briefing(sections, CURSOR, budget, is_text=is_text, good=0.7)
    alone = replace(briefing, packed=replace(briefing.packed, chosen=[must]))
    tokens = count_tokens(alone.text()) if is_text else alone.answer()["tokens"]
    assert ("constraints" in briefing.rows()) is (tokens <= budget)


def test_it_is_told_that_even_what_must_be_read_does_not_fit() -> None:
    sections = {"constraints": many("constraints", 30, is_must=True)}
    for budget in (60, 100, 300):
        briefing = packed(sections, budget)
        omitted = 30 - chosen(briefing).get("constraints", 0)
        said = briefing.answer()["omitted"]
        assert said == (omitted if budget < SMALL_BUDGET else {"constraints": omitted})


def test_what_must_be_read_leaves_room_for_the_rest() -> None:
    sections = {name: many(name, 60) for name in SHARES}
    sections["constraints"] = many("constraints", 400, 1.0, is_must=True)
    sections["messages"] = many("messages", 400, 0.6, is_must=True)
    rows = packed(sections, 1_500, good=0.7).rows()
    assert list(rows) == [*SHARES] or set(rows) >= {"session", "constraints", "decisions", "memories"}
    musts = [one for each in rows.values() for one in each if one.is_must]
    tokens = sum(count_tokens(one.text) + 20 for one in musts)
    assert tokens <= max(1_500 * MUSTS // 100, FEW_MUSTS) + 60


def test_the_most_urgent_of_all_sections_comes_first() -> None:
    sections = {
        "constraints": many("constraints", 9, 0.9, is_must=True),
        "messages": many("messages", 9, 1.0, is_must=True),
    }
    rows = packed(sections, 170).rows()
    assert list(rows) == ["messages"]


def test_a_brief_of_english_spends_five_sixths_of_its_budget_in_real_tokens() -> None:
    spent = [o200k(as_text(packed(notes(seed), good=0.7).answer())) for seed in range(15)]
    assert median(spent) >= 1_250
    assert max(spent) <= 1_500


def notes(seed: int) -> Sections:
    """More rows than fit, of parts of English notes."""
    chance = random.Random(seed)
    words = (CORPUS / "english_notes.txt").read_text().split()

    def text() -> str:
        start, length = chance.randrange(len(words) - 50), chance.randrange(8, 40)
        return " ".join(words[start : start + length])

    return {name: [row(name, n, chance.random(), text()) for n in range(40)] for name in SHARES}


# -- Shares ----------------------------------------------------------------------------------------


def test_sections_come_in_one_order() -> None:
    sections = {name: many(name, 2) for name in reversed(SHARES)}
    assert list(packed(sections, 5_000).rows()) == list(SHARES)


def test_the_shares_are_those_that_were_decided() -> None:
    """By what a task needs; benchmarks/briefs.py measures the recall with them."""
    assert list(SHARES.values()) == [15, 20, 25, 10, 5, 5, 12, 8]
    assert list(SHARES) == [
        *("session", "constraints", "decisions", "messages"),
        *("leases", "changes", "memories", "snapshots"),
    ]


def test_each_section_gets_its_share() -> None:
    rows = packed({name: many(name, 60) for name in SHARES}, 6_000).rows()
    tokens = {name: sum(count_tokens(one.text) for one in found) for name, found in rows.items()}
    assert list(rows) == list(SHARES)
    assert tokens["decisions"] > tokens["leases"]


def test_what_a_section_leaves_over_goes_to_others() -> None:
    alone = packed({"leases": many("leases", 60)}, 1_000)
    assert alone.answer()["tokens"] > 900


def test_rows_with_low_scores_fill_what_is_left() -> None:
    sections = {"decisions": many("decisions", 5, 0.8), "constraints": many("constraints", 60, 0.1)}
    briefing = packed(sections, 1_000, good=0.7)
    assert chosen(briefing)["decisions"] == 5
    assert briefing.answer()["tokens"] > 900


def test_a_row_too_long_for_the_budget_lets_others_in() -> None:
    long = row("decisions", 0, 2.0, "long " * 500)
    rows = packed({"decisions": [long, *many("decisions", 3)]}, 500).rows()
    assert len(rows["decisions"]) == 3


def test_texts_are_written_only_for_rows_that_may_fit() -> None:
    written: list[int] = []

    def write(number: int, _: int) -> str:
        written.append(number)
        return "word " * 40

    rows = [replace(row("decisions", n), write=partial(write, n)) for n in range(2_000)]
    packed({"decisions": rows}, 300)
    assert len(written) < 100


@pytest.mark.parametrize("budget", [100, 200, 300, 500, 790, 800, 1_500, 3_000])
@pytest.mark.parametrize("words", [4, 40])
def test_few_texts_are_written_that_do_not_fit(words: int, budget: int) -> None:
    written: list[str] = []

    def write(section: str, _: int) -> str:
        written.append(section)
        return "word " * words

    sections = {
        name: [replace(one, write=partial(write, name)) for one in many(name, 60, is_must=name == "messages")]
        for name in ("messages", "decisions", "memories")
    }
    fitting = chosen(packed(sections, budget))
    # Of what must be read, each row that does not fit is also tried with less of its text.
    assert all(written.count(name) <= fitting.get(name, 0) + 4 * REFUSALS for name in sections)


def test_the_best_for_their_tokens_fill_what_is_left() -> None:
    """A row's text is not known when rows are compared first: a short one may still be the best."""
    long, short = row("decisions", 0, 0.6, "word " * 60), row("memories", 1, 0.3, "short")
    rows = packed({"decisions": [long], "memories": [short]}, 150, good=0.7).rows()
    assert list(rows) == ["memories"]


def test_a_section_without_a_share_is_left_out() -> None:
    form = json_form(lambda packed: 10 * len(packed.chosen))
    found = pack({"changes": many("changes", 3)}, 200, form, shares={"leases": 50, "changes": 50})
    assert (list(found.sections()), found.omitted()) == (["changes"], {})
