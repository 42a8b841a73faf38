"""Completes what somebody types: names and ids of a project that begin so, then some that are like it."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ctxhub.core.accounts.models import Agent
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.known_names import name_column
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.likeness import plain
from ctxhub.core.kit.listing import COUNTED_TO
from ctxhub.core.registry import find_noun
from ctxhub.core.search.search import search
from ctxhub.core.text.invisible import strip_invisible

MOST = 100
# Of 100: words of which most letters are the same, or of which one holds the other.
LEAST_LIKENESS = 75.0
BEGINNING = 0.9
LONGEST_ID = 18

Values = Sequence[str]


@frozen
class Completions:
    """The first 100, and how many there are; counted to 1,000, with `has_more` beyond."""

    values: Values
    total: int
    has_more: bool


def completions_of(begin_so: Values, alike: Callable[[], Iterable[str]]) -> Completions:
    """What begins so and then what is `alike`, which is looked for only where there is room for it."""
    found = list(begin_so) if len(begin_so) >= MOST else list(dict.fromkeys([*begin_so, *alike()]))
    return Completions(found[:MOST], min(len(found), COUNTED_TO), len(found) > MOST)


def complete_word(text: str, words: Sequence[str]) -> Completions:
    """Completes one of a few known words."""
    said = plain(text)
    begin_so = [word for word in words if plain(word).startswith(said)]
    return completions_of(begin_so, lambda: _most_like(text, words))


def complete_name(project_id: int, kind: str, text: str) -> Completions:
    """Completes the name of a tag, a layer, an agent, or of an object whose ref holds a name."""
    text = _typed(text)
    begin_so = _names(project_id, kind, text)
    return completions_of(begin_so, partial(_like_names, project_id, kind, text))


def complete_agent(project_id: int, text: str) -> Completions:
    """Completes the name of an agent that is no person."""
    text = _typed(text)
    begin_so = _names(project_id, "agent", text, f" AND kind = {Agent.Kind.AGENT.value}")
    return completions_of(begin_so, partial(_like_names, project_id, "agent", text))


def complete_ref(project_id: int, kind: str, text: str) -> Completions:
    """Completes the name in a ref of a kind: a key, a path, a name, or an id, the newest first."""
    noun = find_noun(kind)
    if noun is None or not noun.open:
        return Completions((), 0, has_more=False)
    text = _typed(text)
    column = name_column(kind) if noun.ids_of or noun.is_named else None
    has_ids = column is None or kind == "session" or text.isdecimal()
    ids = _ids(project_id, noun.model._meta.db_table, text) if has_ids else []
    names = _names(project_id, kind, text) if column else []
    return completions_of([*ids, *names][: COUNTED_TO + 1], partial(_found_by_search, project_id, kind, text))


# -- What begins so --------------------------------------------------------------------------------


def _typed(text: str) -> str:
    return strip_invisible(text.replace("\0", ""))[:PATH_LENGTH].strip()


def _names(project_id: int, kind: str, text: str, also: str = "") -> list[str]:
    column = name_column(kind)
    if column is None:
        return []
    begins, values = sql.begins(column.found_by, column.spelled(text))
    found = sql.rows(
        f"SELECT {column.field} FROM {column.table} WHERE project_id = %s AND {begins}"
        f" AND {column.field} <> ''{also} ORDER BY {column.found_by} LIMIT {COUNTED_TO + 1}",
        [project_id, *values],
    )
    return [name for (name,) in found]


def _ids(project_id: int, table: str, text: str) -> list[str]:
    if text and not (text.isascii() and text.isdecimal() and len(text) <= LONGEST_ID):
        return []
    # The ids that begin with 4 are 4, 40 to 49, 400 to 499, ...: an index finds these.
    ranges = [
        (int(text) * 10**digits, (int(text) + 1) * 10**digits - 1)
        for digits in (range(LONGEST_ID - len(text) + 1) if text else ())
    ]
    among = " OR ".join(["id BETWEEN %s AND %s"] * len(ranges))
    found = sql.rows(
        f"SELECT id FROM {table} WHERE project_id = %s{f' AND ({among})' if ranges else ''}"
        f" ORDER BY id DESC LIMIT {COUNTED_TO + 1}",
        [project_id, *(bound for limits in ranges for bound in limits)],
    )
    return [str(row_id) for (row_id,) in found]


# -- What is like it -------------------------------------------------------------------------------


def _like_names(project_id: int, kind: str, text: str) -> list[str]:
    """Among the first 1,001 names of the project."""
    return _most_like(text, _names(project_id, kind, "")) if text else []


def _most_like(text: str, known: Sequence[str]) -> list[str]:
    from rapidfuzz import fuzz

    if not (said := plain(text)):
        return []

    def likeness(name: str) -> float:
        """Of the whole name, or of its beginning: `agnt` is like agent-12."""
        return max(fuzz.WRatio(said, name), BEGINNING * fuzz.ratio(said, name[: len(said) + 1]))

    scores = [(likeness(plain(name)), name) for name in known]
    alike = sorted((each for each in scores if each[0] >= LEAST_LIKENESS), key=lambda each: -each[0])
    return [name for _, name in alike[:MOST]]


def _found_by_search(project_id: int, kind: str, text: str) -> list[str]:
    noun = find_noun(kind)
    if noun is None or not noun.documents:
        return _like_names(project_id, kind, text)
    if not text or text.isdecimal():
        return []
    hits = search(project_id, text, kinds=[kind], detail="ids", limit=MOST, earlier=False).hits
    return [hit.ref.partition(":")[2] for hit in hits]
