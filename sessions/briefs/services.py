"""Gives a briefing to an agent: the answer, and the record that it was given."""

from collections.abc import Sequence
from functools import partial

from ctxhub.core.given import GivenItem, give
from ctxhub.core.kit.caller import Caller
from ctxhub.core.use import tally
from ctxhub.core.use.whole import texts_of
from sessions.briefs.brief import BriefAnswer, Briefing


def give_answer(caller: Caller, briefing: Briefing) -> BriefAnswer:
    answer = briefing.answer()
    _give(caller, briefing, answer)
    return answer


def give_text(caller: Caller, briefing: Briefing) -> str:
    text = briefing.text()
    _give(caller, briefing, text)
    return text


def _give(caller: Caller, briefing: Briefing, answer: BriefAnswer | str) -> None:
    items = items_of(briefing)
    give(caller, "brief", items, answer)
    # Of a session a brief tells what it was about: nobody would have opened all its conversations for that.
    refs = [f"{item.kind}:{item.name}" for item in items if item.kind != "session"]
    tally.behind(partial(texts_of, caller.project_id, refs))


def items_of(briefing: Briefing) -> Sequence[GivenItem]:
    """The things in a briefing, each once."""
    items: dict[str, GivenItem] = {}
    for section, rows in briefing.rows().items():
        for row in rows:
            kind, _, name = row.ref.partition(":")
            items.setdefault(row.ref, GivenItem(kind, name, row.version, section))
    return list(items.values())
