"""The text form of a brief: no content leaves its line, or passes for a heading or for the last line."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import EventCursor
from ctxhub.core.text.invisible import without_invisible
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from messaging.messages.services import send_message
from sessions.briefs.brief import NOTE, brief, pack_briefing
from sessions.briefs.rows import SHARES, Candidate
from sessions.sittings.services import save_session
from tests.sessions.briefs import AT, BREAKOUTS, TEXTS
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

ROW = re.compile(r"- \S.*:.* \(.+, \d{4}-\d\d-\d\d\)")
OMITTED = re.compile(r"\(\d+ more: ask with a larger budget, or search\)")
# Categories of characters that no line has: controls, formats such as bidi marks, separators of lines.
INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def rows_in(text: str, cursor: str) -> int:
    """The number of rows of a text that has the form of a brief."""
    first, *lines, last = text.splitlines()
    assert (first, last) == (NOTE, f"(ctxhub cursor {cursor})")
    assert not [c for line in (*lines, last) for c in line if unicodedata.category(c) in INVISIBLE]
    headings = [line for line in lines if line.startswith("#")]
    assert headings == [f"## {name}" for name in SHARES if f"## {name}" in headings]
    rows = [line for line in lines if line.startswith("- ")]
    assert all(ROW.fullmatch(line) for line in rows)
    others = [line for line in lines if line and line not in headings and line not in rows]
    assert all(OMITTED.fullmatch(line) for line in others)
    return len(rows)


def packed(*rows: Candidate) -> str:
    sections = {name: [row for row in rows if row.section == name] for name in SHARES}
    return pack_briefing(sections, EventCursor(7), 20_000, is_text=True).text()


def candidate(
    section: str = "memories", text: str = "text", ref: str = "memory:1", by: str = "ada"
) -> Candidate:
    return Candidate(section, ref, lambda _: text, by, AT, 1.0)


def test_the_form() -> None:
    rows = [candidate("decisions", "Use Redis.", "decision:a"), candidate("decisions", "Two.", "decision:b")]
    assert packed(*rows, candidate("changes", "src/app.py modified", "change:4", "ben")) == (
        f"{NOTE}\n\n"
        "## decisions\n- decision:a: Use Redis. (ada, 2026-11-21)\n- decision:b: Two. (ada, 2026-11-21)\n\n"
        "## changes\n- change:4: src/app.py modified (ben, 2026-11-21)\n\n"
        "(ctxhub cursor e7)"
    )


def test_an_empty_brief_is_the_note_and_the_cursor() -> None:
    assert packed() == f"{NOTE}\n\n(ctxhub cursor e7)"


@pytest.mark.parametrize("hostile", BREAKOUTS, ids=range(len(BREAKOUTS)))
def test_nothing_in_a_row_leaves_its_line(hostile: str) -> None:
    rows = [candidate(text=hostile), candidate(ref=f"decision:{hostile}"), candidate(by=hostile)]
    assert rows_in(packed(*rows), "e7") == 3


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_no_characters_leave_their_line(text: str, ref: str, by: str) -> None:
    assert rows_in(packed(candidate("leases", text, f"x{ref}", f"{by}x")), "e7") == 1


def test_texts_stay_readable() -> None:
    for text in TEXTS[:3]:
        assert " ".join(text.split()) in packed(candidate(text=text))


def test_what_does_not_fit_is_counted_in_one_line() -> None:
    sections = {"memories": [candidate(text=f"{n} {TEXTS[0]}") for n in range(60)]}
    text = pack_briefing(sections, EventCursor(7), 200, is_text=True).text()
    assert f"({60 - rows_in(text, 'e7')} more: " in text


@pytest.mark.parametrize("hostile", [*BREAKOUTS, *TEXTS[2:6]], ids=range(len(BREAKOUTS) + 4))
def test_stored_content_stays_in_its_row(hostile: str, ada: Caller, ben: Caller) -> None:
    name = without_invisible(hostile[:60]).strip()  # No name ends its line by itself.
    other = Caller(ben.project, name)
    set_decision(caller=ben, key=f"api/{name}", value=hostile, rationale=hostile, tags=["a"])
    add_constraint(caller=other, category=name, text=hostile, priority="critical", reason=hostile)
    send_message(caller=other, text=hostile, priority="critical")
    add_memory(caller=other, title=name, content=hostile)
    by_names = other.with_exact_paths()
    acquire_lease(caller=by_names, paths=[f"src/{name.replace('..', '')}"], reason=hostile)
    record_change(caller=by_names, path=f"docs/{name}", change="modified", description=hostile)
    save_session(caller=ada, summary=hostile, items=[{"category": name[:50], "content": hostile}])
    answer = brief(caller=ada, budget_tokens=20_000, is_text=True)
    assert rows_in(answer.text(), str(answer.cursor)) == 8
