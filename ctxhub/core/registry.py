"""The registry of nouns (decision, memory, ...). Apps register theirs, so core needs no import of an app."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from django.db import models
from django.dispatch import Signal

from ctxhub.core.events.counters import Counting, Stats
from ctxhub.core.kit.caller import WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_name, read_id
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.sql import Reading, Selected
from ctxhub.core.links import HeadReader, LinkSource
from ctxhub.core.search.documents import Document

Count = int | list[int]
Version = tuple[int, str]
"""The id of a row and one of its versions."""
TextsAt = Callable[[int, Sequence[Version], int], Mapping[Version, str]]


class Recorder(Protocol):
    """Records the changes of a noun, also those through the ORM: see ctxhub.core.history."""

    is_counted: ClassVar[bool]
    is_indexed: ClassVar[bool]
    is_binned: ClassVar[bool]
    has_paths: ClassVar[bool]

    def documents(self, project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]: ...

    def showing(self, word: NamedRow) -> Sequence[int]: ...

    def patterns_of(self, project_id: int, ids: Sequence[int]) -> Mapping[int, Sequence[str]]: ...

    def watch(self) -> None: ...


@frozen
class Deletion:
    """How the objects of a kind are deleted by their refs.

    `scope`: what it needs. `find(caller, names)`: for each name its row, or why it is not deleted.
    `delete(caller, rows)`: deletes what `find` gave in the same transaction, and records it.
    `along(rows)`: what goes with them, in words, by row id. `contents`: the kind whose rows go with them.
    `sizes(rows)`: about how many bytes are deleted with them, by row id; many go in several transactions.
    `others_scope`: what another agent's need; "": the same.
    """

    find: Callable[[Caller, Sequence[str]], Mapping[str, Any]]
    delete: Callable[[Caller, Sequence[Any]], None]
    scope: str = WRITE
    along: Callable[[Sequence[Any]], Mapping[int, str]] | None = None
    contents: str = ""
    sizes: Callable[[Sequence[Any]], Mapping[int, int]] | None = None
    others_scope: str = ""


@frozen
class Kept:
    """Objects of a kind are not deleted by their refs. `instead` says what to do, after `call` if it is an
    operation (tool and action) that does it."""

    instead: str
    call: tuple[str, str] | None = None


@frozen
class Noun:
    """A kind of object. `kind` is the part of a ref before the colon (`decision:api/auth`), `plural` its key
    in counts.

    `count(stats)`: its number in `stats`, or [active, all]; None: all that its history counts, or it is not
    listed there.
    `counting(project_id)`: the statement that counts its rows, if it has no counters; `stats` then has them.
    `open(project_id, names, full)`: the items for the names of many refs, in a fixed number of queries.
    `text`: the field of an item that is its main text, which can be read by lines; "": it has none.
    `by_layer(stats)`: its number in each layer, by layer id, for `layer_summary`.
    `documents(project_id, object_ids)`: reads the search documents of these rows; excerpts are cut from them.
    `ids_of(project_id, names)`: the row ids for names of refs, if the names are not the ids.
    `is_named`: the names of its refs are names, although it has no `ids_of`.
    `showing(word)`: the ids of the rows whose documents contain the name of a tag, scope, category or agent.
    `turns(project_id, object_ids)`: a SELECT of the rows said before and after those that were found: `id`,
    `ending` (its last characters), `place` (1 and 2: the next ones, -1 and -2: those before, 0: a reply) and
    `other`, the id of the row there, or null. Rows that are no turns are left out.
    `prior`: the weight of its rows in a search.
    `has_reasons`: its rows hold reasons, and rank first for questions that ask why.
    `is_kept`: a search lists its rows even if another result says nearly the same.
    `earlier_states_of`: the kind whose earlier states these rows are. They are found under that kind, ranked
    below its current rows, and have no refs of their own.
    `states_of(project_id, object_ids)`: the ids of the earlier states of rows of that kind.
    `history`: records its changes; for an indexed noun it also provides `documents` and `showing`.
    `on_open(caller, names)`: called when its rows were opened by the names of their refs.
    `version_of(item)`: the version that an item shows, for the record of what agents were given.
    `texts_at(project_id, versions, characters)`: how rows began at versions, by id and version; without those
    that are no longer kept.
    `news(caller, events)`: its number in `updates`, in place of the number of objects that others changed.
    `events` selects noun, verb and ref of the new events of others; None: since ever.
    `wakes`: whether its events end the waiting of other agents.
    `heads`: reads what a list of objects of any kind shows of its rows; needed to be linked.
    `links`: the links from causes to effects that its rows hold.
    `deletion`: how its rows are deleted by their refs, or what to do instead; a noun that opens refs has one.
    """

    kind: str
    plural: str
    model: type[models.Model]
    count: Callable[[Stats], Count] | None = None
    open: Callable[[int, Sequence[str], bool], Mapping[str, dict[str, Any]]] | None = None
    by_layer: Callable[[Stats], Mapping[int, int]] | None = None
    documents: Callable[[int, Sequence[int]], Reading[Sequence[Document]]] | None = None
    showing: Callable[[NamedRow], Sequence[int]] | None = None
    news: Callable[[Caller, Selected | None], int] | None = None
    turns: Callable[[int, Sequence[int]], Selected] | None = None
    prior: float = 1.0
    has_reasons: bool = False
    is_kept: bool = False
    ids_of: Callable[[int, Sequence[str]], Mapping[str, int]] | None = None
    text: str = ""
    earlier_states_of: str = ""
    states_of: Callable[[int, Sequence[int]], Sequence[int]] | None = None
    history: Recorder | None = None
    on_open: Callable[[Caller, Sequence[str]], None] | None = None
    version_of: Callable[[Mapping[str, Any]], str] | None = None
    texts_at: TextsAt | None = None
    wakes: bool = True
    heads: HeadReader | None = None
    links: LinkSource | None = None
    counting: Callable[[int], Counting] | None = None
    deletion: Deletion | Kept | None = None
    is_named: bool = False

    def __post_init__(self) -> None:
        if self.history and self.history.is_indexed:
            object.__setattr__(self, "documents", self.history.documents)
            object.__setattr__(self, "showing", self.history.showing)
        if self.history and self.history.is_counted and self.count is None:
            object.__setattr__(self, "count", counter_of(self.kind))


def counter_of(kind: str) -> Callable[[Stats], int]:
    """Counts the rows of a kind, whatever their status."""
    return lambda stats: stats.of(kind)


# What refs call a kind besides its name: `file:a.py` is resource:a.py. An address (`file://`) is no ref.
OTHER_KINDS = {"file": "resource"}

_nouns: dict[str, Noun] = {}
# Sent when a noun is registered. Argument: noun.
registered = Signal()


def register(noun: Noun) -> None:
    _nouns[noun.kind] = noun
    registered.send(None, noun=noun)


def all_nouns() -> Sequence[Noun]:
    """Every noun, in the order of registration."""
    return list(_nouns.values())


def find_noun(kind: str) -> Noun | None:
    return _nouns.get(kind)


def indexed_nouns() -> Sequence[Noun]:
    """All nouns that are in the search index, with those that are earlier states."""
    return [noun for noun in all_nouns() if noun.documents]


def searched_nouns() -> Sequence[Noun]:
    """The nouns that a search can filter by."""
    return [noun for noun in indexed_nouns() if not noun.earlier_states_of]


def earlier_states(kind: str) -> Noun | None:
    """The noun whose rows are the earlier states of this kind; None if there is none."""
    return next((noun for noun in indexed_nouns() if noun.earlier_states_of == kind), None)


def standing_kind(kind: str) -> str:
    """The kind that refs use: for a kind of earlier states the kind that they belong to."""
    noun = find_noun(kind)
    return noun.earlier_states_of or kind if noun else kind


def wakes(kind: str) -> bool:
    """Whether events of a kind end the waiting of other agents."""
    return kind not in _nouns or _nouns[kind].wakes


def plural(kind: str) -> str:
    return _nouns[kind].plural if kind in _nouns else f"{kind}s"


def name_of_ref(value: str, kind: str) -> str:
    """The name in `value`, which is a ref of this kind (`context:shop`) or the name alone.

    Raises InvalidInput for a ref of another kind with an id, such as memory:4 for a context.
    """
    word, colon, name = value.partition(":")
    other = word.strip().lower()
    if colon and other == kind:
        return name.strip()
    if colon and name.strip().isdecimal() and find_noun(other):
        raise InvalidInput(f"{kind}: {shown(value)} is no {kind}: write its name, its id or {kind}:17.")
    return value


def split_ref(ref: str) -> tuple[Noun, str]:
    """The noun and the name of a ref; raises InvalidInput if `ref` is malformed or its kind unknown."""
    kind, colon, name = ref.strip().partition(":")
    openable = [noun.kind for noun in all_nouns() if noun.open]
    if not colon or not name.strip():
        raise InvalidInput(
            f"{shown(ref)} is not a ref.",
            hint="A ref is a kind, a colon and a name: decision:api/auth/method.",
        )
    known = kind.lower()
    if not name.startswith("//"):
        known = OTHER_KINDS.get(known, known)
    if known not in openable:
        raise unknown_word("ref", kind, openable)
    return _nouns[known], clean_name(name, "ref", at_most=PATH_LENGTH)


def noun_of_ref(ref: str) -> Noun | None:
    """The noun of a ref, whatever its name is."""
    kind = ref.strip().partition(":")[0].strip().lower()
    return _nouns.get(OTHER_KINDS.get(kind, kind))


def names_a_kind(ref: str) -> bool:
    """Whether a ref has a kind and a colon before the name, whether or not such an object exists."""
    noun = noun_of_ref(ref)
    return bool(":" in ref and noun and noun.open)


def refuse_ref_as_name(name: str, kind: str, argument: str = "name") -> None:
    """Raise InvalidInput if the name of a new object reads as a ref: `decision:x` for a key.

    Whoever is told `decision:x` looks for x. Those that are stored already stay, and are found.
    """
    if not names_a_kind(name):
        return
    said, _, rest = (part.strip() for part in name.partition(":"))
    meant = rest if said.lower() == kind else "/".join(filter(None, (said, rest)))
    raise InvalidInput(
        f"{argument}: {shown(name)} reads as the ref of a {OTHER_KINDS.get(said.lower(), said.lower())}.",
        hint=f"Write {shown(meant)}." if meant else "Write a name.",
        did_you_mean=meant,
    )


def refuse_ref_as_title(title: str, kind: str, argument: str = "name") -> None:
    """As `refuse_ref_as_name`, for what people read: `Session: first ideas` is a title."""
    said, _, rest = title.partition(":")
    if said == said.lower() and rest[:1].strip():
        refuse_ref_as_name(title, kind, argument)


def ids_named(kind: str, project_id: int, names: Sequence[str]) -> list[int]:
    """The row ids of the objects of a kind with these names (the part of a ref after the colon)."""
    noun = find_noun(kind)
    if noun and noun.ids_of:
        return list(noun.ids_of(project_id, names).values())
    return [object_id for name in names if (object_id := read_id(name))]
