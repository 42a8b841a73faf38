"""Which of an agent's sessions are current: one is over once the agent begins another after its last sign.

So two windows that work side by side are both current. What an agent was given before it had a session
belongs to the first one that it then makes, unless that one continues another.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from ctxhub.core.kit.frozen import frozen

Place = tuple[int | None, str]
"""The id of a session, or the name of one that does not exist yet; (None, ""): calls without a session."""
NOWHERE: Place = (None, "")


@frozen
class Work:
    """A session of one agent: when it began, and when it was last heard of."""

    place: Place
    began: datetime
    last: datetime
    continues: bool = False


def current_places(works: Iterable[Work]) -> set[Place]:
    """The places of one agent's work that are current."""
    names = {name: (row_id, "") for work in works for row_id, name in [work.place] if row_id and name}
    joined: dict[Place, Work] = {}
    for work in works:
        place = _own(work.place, names)
        joined[place] = _joined(joined.get(place), Work(place, work.began, work.last, work.continues))
    first = _first_of_its_own(joined)
    if first:
        nowhere = joined.pop(NOWHERE)
        joined[first.place] = _joined(first, nowhere)
    begins = {place: work.began for place, work in joined.items()}
    found = {
        place
        for place, work in joined.items()
        if not any(began > work.last for other, began in begins.items() if other != place)
    }
    ids = {row_id for row_id, _ in found if row_id}
    named = {(None, name) for name, (row_id, _) in names.items() if row_id in ids}
    return found | named | ({NOWHERE} if first and first.place in found else set())


def _own(place: Place, names: Mapping[str, Place]) -> Place:
    row_id, name = place
    return (row_id, "") if row_id else names.get(name, place)


def _joined(one: Work | None, other: Work) -> Work:
    if one is None:
        return other
    return Work(
        one.place, min(one.began, other.began), max(one.last, other.last), one.continues or other.continues
    )


def _first_of_its_own(works: Mapping[Place, Work]) -> Work | None:
    """The first session that was made after calls without one, and continues none."""
    if NOWHERE not in works:
        return None
    since = works[NOWHERE].began
    made = [work for place, work in works.items() if place != NOWHERE and work.began > since]
    first = min(made, key=lambda work: work.began, default=None)
    return first if first and not first.continues else None
