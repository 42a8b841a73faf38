"""Gives a briefing to an agent: the answer, and the record that it was given."""

from collections.abc import Sequence

from ctxhub.core.given import GivenItem, give
from ctxhub.core.kit.caller import Caller
from sessions.briefings.selectors.brief import BriefAnswer, Briefing


def give_answer(caller: Caller, briefing: Briefing) -> BriefAnswer:
    answer = briefing.answer()
    give(caller, "brief", items_of(briefing), answer)
    return answer


def give_text(caller: Caller, briefing: Briefing) -> str:
    text = briefing.text()
    give(caller, "brief", items_of(briefing), text)
    return text


def items_of(briefing: Briefing) -> Sequence[GivenItem]:
    """The things in a briefing, each once."""
    items: dict[str, GivenItem] = {}
    for section, rows in briefing.rows().items():
        for row in rows:
            kind, _, name = row.ref.partition(":")
            items.setdefault(row.ref, GivenItem(kind, name, row.version, section))
    return list(items.values())
