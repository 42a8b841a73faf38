"""The rows that may be in a brief: what they are, the text of each, its writer, and whether it is stale."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

from ctxhub.core import registry
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.queries import Stale, Staleness, find_staleness
from ctxhub.core.search.documents import PASSAGE_CHARACTERS, Document
from ctxhub.core.search.excerpts import Wanted, excerpt
from ctxhub.core.search.rankings import Rankings
from ctxhub.core.text.headings import without_first_headings
from ctxhub.core.text.sentences import in_one_line
from ctxhub.core.text.token_count import count_tokens

# The share of each section, in percent of the budget without the envelope, in the order of the answer.
SHARES = {
    "session": 15,
    "constraints": 20,
    "decisions": 25,
    "messages": 10,
    "leases": 5,
    "changes": 5,
    "memories": 12,
    "snapshots": 8,
}
# Of the text of a row, while another row waits for room.
ROW_TOKENS = 60
# Stands in a text that could say more.
CUT = "…"


@frozen(slots=False)
class Candidate:
    """A row that may be in a briefing.

    `write` makes its text of at most so many tokens: it is called only for a row that may fit. `score`: 0 to
    1 and more, comparable between sections. `is_must`: it must be read, and is packed first; `is_named`:
    since it names a path that was asked for; `specific` says how exactly. `urgency`: a constraint's priority.
    `key`: the object, if it may be stale. `whole`: of a shorter or longer form of a row the row as it was.
    """

    section: str
    ref: str
    write: Callable[[int], str]
    by: str
    at: str
    score: float
    is_must: bool = False
    is_named: bool = False
    specific: tuple[int, ...] = ()
    urgency: int = 0
    why: str = ""
    version: str = ""
    key: ObjectKey | None = None
    length: int = ROW_TOKENS
    whole: "Candidate | None" = None

    @cached_property
    def text(self) -> str:
        return self.write(self.length)

    @property
    def row(self) -> list[str]:
        return self.row_with(self.text)

    def row_with(self, text: str) -> list[str]:
        return [self.ref, text, self.by, self.at, *([self.why] if self.why else [])]

    def of_length(self, tokens: int) -> "Candidate":
        """The same row with a text of at most so many tokens."""
        return replace(self, length=tokens, whole=self.whole or self)

    @property
    def order(self) -> tuple[bool, bool, list[int], float]:
        """Sorts a section: what must be read first, before all what holds everywhere; then by score."""
        return not self.is_must, self.is_named, [-part for part in self.specific], -self.score

    @property
    def place(self) -> int:
        """Tells the row from others, whatever the length of its text."""
        return id(self.whole or self)


@dataclass(slots=True)
class Packed:
    """The rows chosen, in the order in which they were; and how many were considered, by section."""

    chosen: list[Candidate] = field(default_factory=list)
    considered: Mapping[str, int] = field(default_factory=dict)
    names: Sequence[str] = tuple(SHARES)

    def sections(self) -> dict[str, list[Candidate]]:
        """The chosen rows by section, in the order of the answer."""
        rows: dict[str, list[Candidate]] = {}
        for name in self.names:
            if found := [one for one in self.chosen if one.section == name]:
                rows[name] = found
        return rows

    def omitted(self) -> dict[str, int]:
        chosen = self.sections()
        left = {name: total - len(chosen.get(name, ())) for name, total in self.considered.items()}
        return {name: left[name] for name in self.names if left.get(name)}


# A name with more tokens stands once in the answer, and a short one in the rows.
LONG_NAME = 4
# What stands in the rows for it, with a number.
SHORT_NAME = "a"
DAY = len("2026-11-21")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A short name for each long one, in order: `claude-code-frontend-7` -> `a1`; none that another has."""
    all_names = dict.fromkeys(names)
    free = (f"{SHORT_NAME}{number}" for number in range(1, 2 * len(all_names) + 1))
    unused = (name for name in free if name not in all_names)
    return {name: next(unused) for name in all_names if is_long(name)}


def any_writer(name: str) -> str:
    """What stands in a row for this name."""
    return f"{SHORT_NAME}1" if is_long(name) else name


@lru_cache(1_000)
def is_long(name: str) -> bool:
    return count_tokens(name) > LONG_NAME


def day_of(at: str) -> str:
    """The day of a time: 2026-11-21T10:00:00Z -> 2026-11-21."""
    return at[:DAY]


# A row begins with so many tokens of what the object says first: the value of a decision, the text of a
# constraint, the title of anything else; and of what it says next.
FIRST_TOKENS = 20
BEGINS_WITH_BODY = ("decision", "constraint")
# Nothing is said in fewer tokens; and what a dash between two parts costs.
LEAST_TOKENS, JOINT_TOKENS = 6, 3
# A token has hardly more.
MOST_CHARACTERS = 12


def read_documents(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, Document]:
    """The documents of objects, with one query for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, object_id in dict.fromkeys(keys):
        ids.setdefault(kind, []).append(object_id)
    return {
        (kind, document.object_id): document
        for kind, object_ids in ids.items()
        if (noun := registry.find_noun(kind)) and noun.documents
        for document in noun.documents(project_id, object_ids).now()
    }


def row_text(kind: str, document: Document, rankings: Rankings, max_tokens: int = ROW_TOKENS) -> str:
    """A line of at most `max_tokens`: all of the object, or how it begins, and what else in it matches."""
    first, rest = _parts(kind, document)
    if len(first) + len(rest) <= MOST_CHARACTERS * max_tokens:
        whole = _joined(one_line(first, max_tokens), one_line(rest, max_tokens))
        if count_tokens(whole) <= max_tokens:
            return whole
    share = max(FIRST_TOKENS, max_tokens // 3) if max_tokens >= 2 * FIRST_TOKENS else max_tokens
    shown, after = _beginning(first, share)
    if kind in BEGINS_WITH_BODY:
        reason, rest = _beginning(rest, min(share, max_tokens - count_tokens(shown) - JOINT_TOKENS))
        shown, rest = _joined(shown, reason), f"{after}\n{rest}"
    start = rankings.starts.get((kind, document.object_id), 0)
    window = max(PASSAGE_CHARACTERS, MOST_CHARACTERS * max_tokens)
    rest = document.body[start : start + window] if start else rest[:window]
    left = max_tokens - count_tokens(shown) - JOINT_TOKENS
    more = one_line(rest, left, rankings.wanted) if left >= LEAST_TOKENS and rest.strip() else ""
    text = _joined(shown, more)
    return text if CUT in text else f"{text} {CUT}"


def _parts(kind: str, document: Document) -> tuple[str, str]:
    """What an object says first, and what else: a value and why, a title and a text."""
    if kind in BEGINS_WITH_BODY:
        end = document.readable[1]
        return document.body[:end], document.body[end:].strip()
    return document.title, document.body


def _joined(*parts: str) -> str:
    return " — ".join(filter(None, parts))


def _beginning(text: str, max_tokens: int) -> tuple[str, str]:
    """The first tokens of a text behind its headings, and its lines from there on."""
    if max_tokens < LEAST_TOKENS:
        return "", text
    lines = "\n".join(filter(None, map(in_one_line, without_first_headings(text).splitlines())))
    flat = lines[: MOST_CHARACTERS * max_tokens].replace("\n", " ")
    shown = excerpt(flat, Wanted({}), max_tokens)
    kept = shown.removesuffix(CUT).rstrip()
    behind = lines[len(kept) :] if flat.startswith(kept) else lines
    return (f"{kept} {CUT}" if behind.strip() else shown), behind


def one_line(text: str, max_tokens: int = ROW_TOKENS, wanted: Wanted | None = None) -> str:
    """A text as one line of at most `max_tokens`, cut around the words that are wanted."""
    return in_one_line(excerpt(text, wanted or Wanted({}), max_tokens))


LOWERED = 0.85

Sections = Mapping[str, list[Candidate]]


@frozen
class Marked:
    """Sections whose stale rows are marked, and which rows these are."""

    sections: Sections
    stale: Staleness


def mark_stale(project_id: int, sections: Sections, *, reorders: bool) -> Marked:
    """The text of a stale row ends with how many changes since when, and its score is lower. One query.

    Where much of the project is stale, no score is lower. `reorders`: sections are sorted by score.
    """
    rows = (one for section in sections.values() for one in section)
    stale = find_staleness(project_id, (one.key for one in rows if one.key))
    marked = dict(sections)
    for name, section in sections.items() if stale.objects else ():
        if any(one.key in stale.objects for one in section):
            rows_marked = [_marked(one, stale) for one in section]
            marked[name] = sorted(rows_marked, key=lambda one: one.order) if reorders else rows_marked
    return Marked(marked, stale)


def with_stale_marked(project_id: int, sections: Sections, *, reorders: bool) -> Sections:
    """The sections of `mark_stale`."""
    return mark_stale(project_id, sections, reorders=reorders).sections


def stale_note(stale: Staleness, rows: Iterable[Candidate]) -> str:
    """A sentence if one of the rows has a mark that lowers no rank; at most 30 tokens. Else ""."""
    number, of = stale.share
    if not stale.share.is_large or not any(one.key in stale.objects for one in rows):
        return ""
    return f"{number:,} of {of:,} rows with paths are stale, so that the mark lowers no rank."


def _marked(one: Candidate, stale: Staleness) -> Candidate:
    found = stale.objects.get(one.key) if one.key else None
    if found is None:
        return one
    factor = LOWERED if one.key in stale.lowered else 1.0
    return replace(one, write=partial(_text, one, found), score=one.score * factor)


def _text(one: Candidate, stale: Stale, max_tokens: int) -> str:
    return f"{one.write(max_tokens)} [{stale}]"
