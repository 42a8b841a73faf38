"""Ranks the objects of several kinds by how well they match a text, for answers that choose among them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.candidates_of_kinds import find_candidates_of_kinds
from ctxhub.core.search.excerpts import Wanted
from ctxhub.core.search.questions import prepare
from ctxhub.core.search.ranking import Ranked, rank
from ctxhub.core.search.search import wanted_of

ObjectKey = tuple[str, int]
"""The kind and the id of an object."""

# The text is no query: quotes, stars and minus signs have no meaning in it.
_SYNTAX = re.compile(r'["“”*]|(?<!\S)-+(?=\S)')


@frozen
class Rankings:
    """The objects in force that match, with their scores (0 to 1), best first; and the words for excerpts.

    `starts`: the offset of the best passage in the body of each.
    """

    scores: Mapping[ObjectKey, float] = field(default_factory=dict)
    starts: Mapping[ObjectKey, int] = field(default_factory=dict)
    wanted: Wanted = field(default_factory=lambda: Wanted({}))


ALWAYS = 10


def rank_objects(
    project_id: int, text: str, kinds: Sequence[str], *, limit: int, least: float = 0.0
) -> Rankings:
    """The best `limit` objects of each kind, of any language; none if the text has no words.

    What has less than the share `least` of the best score, of whichever kind, is left out, but for the first
    ALWAYS of a kind: in a small project a word that everything has weighs next to nothing.
    """
    query = _SYNTAX.sub(" ", text)
    prepared = prepare(project_id, query, keeps_names=True) if query.strip() else None
    if prepared is None or not prepared.weights:
        return Rankings()
    candidates = find_candidates_of_kinds(
        prepared.narrowing,
        prepared.query,
        prepared.weights,
        kinds,
        2 * limit,
        prepared.counts,
        prepared.entries,
        by_row=prepared.by_row,
    )
    found: dict[ObjectKey, Ranked] = {}
    always: set[ObjectKey] = set()
    for kind in kinds:
        of_kind = [candidate for candidate in candidates if candidate.kind == kind]
        ranked = [one for one in rank(of_kind, prepared.weights) if not one.candidate.is_over]
        found |= {(kind, one.candidate.object_id): one for one in ranked[:limit]}
        always |= {(kind, one.candidate.object_id) for one in ranked[:ALWAYS]}
    best = max((one.score for one in found.values()), default=0.0)
    found = {key: one for key, one in found.items() if key in always or one.score >= least * best}
    return Rankings(
        {key: one.score for key, one in found.items()},
        {key: one.candidate.start for key, one in found.items()},
        wanted_of(prepared.weights),
    )
