"""The kinds of things a hub knows. Each app registers its own, so that core works on all, importing none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from django.db import models
from django.dispatch import Signal

from ctxhub.core.events.selectors.stats import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown, unknown_word
from ctxhub.core.kit.inputs import PATH_LENGTH, clean_name
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.search.documents import Document

Count = int | list[int]


class Recorder(Protocol):
    """Records what is written of a noun, also by the ORM: see ctxhub.core.history."""

    is_indexed: ClassVar[bool]

    def documents(self, project_id: int, ids: Sequence[int]) -> Sequence[Document]: ...

    def showing(self, word: NamedRow) -> Sequence[int]: ...

    def watch(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Noun:
    """`kind` is the word before the colon of a ref (`decision:api/auth`), `plural` the word in counts.

    `count(figures)`: the figure in `stats`, or [active, all]; None: it has none there.
    `open(project_id, names, full)`: the items behind many names of refs, in a fixed number of queries.
    `text`: the field of such an item that is its main text, which may be read by lines; "": it has none.
    `by_layer(figures)`: the figure of each layer, by its id, for `layer_summary`.
    `documents(project_id, object_ids)`: what these rows are found by, and what excerpts are cut from.
    `ids_of(project_id, names)`: the rows that names of refs mean, where they are not the rows' ids.
    `showing(word)`: the ids of the rows whose documents show this tag, scope, category or agent by its name.
    `turns(project_id, object_ids)`: of rows that were found, those that were said before them and after them,
    each with the share of their score that it borrows.
    `prior`: what its things count in a search beside others.
    `has_reasons`: its things say why, and come first where that is asked.
    `is_kept`: its things are shown by a search even where another says nearly the same.
    `earlier_states_of`: the kind whose rows were once what these rows say. They are found as that kind is,
    below what stands, and have no refs of their own.
    `states_of(project_id, object_ids)`: the earlier states of some rows of that kind.
    `history`: records its changes; of an indexed noun it gives `documents` and `showing`, too.
    `unread(caller)`: what `updates` says of this noun, in place of how many things others changed.
    """

    kind: str
    plural: str
    model: type[models.Model]
    count: Callable[[Stats], Count] | None = None
    open: Callable[[int, Sequence[str], bool], Mapping[str, dict[str, Any]]] | None = None
    by_layer: Callable[[Stats], Mapping[int, int]] | None = None
    documents: Callable[[int, Sequence[int]], Sequence[Document]] | None = None
    showing: Callable[[NamedRow], Sequence[int]] | None = None
    unread: Callable[[Caller], int] | None = None
    turns: Callable[[int, Sequence[int]], Mapping[int, Mapping[int, float]]] | None = None
    prior: float = 1.0
    has_reasons: bool = False
    is_kept: bool = False
    ids_of: Callable[[int, Sequence[str]], Mapping[str, int]] | None = None
    text: str = ""
    earlier_states_of: str = ""
    states_of: Callable[[int, Sequence[int]], Sequence[int]] | None = None
    history: Recorder | None = None

    def __post_init__(self) -> None:
        if self.history and self.history.is_indexed:
            object.__setattr__(self, "documents", self.history.documents)
            object.__setattr__(self, "showing", self.history.showing)


_nouns: dict[str, Noun] = {}
# Sent with each new noun: noun.
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
    """All that lies in the index, earlier states too."""
    return [noun for noun in all_nouns() if noun.documents]


def searched_nouns() -> Sequence[Noun]:
    """The kinds that a search may be narrowed to."""
    return [noun for noun in indexed_nouns() if not noun.earlier_states_of]


def earlier_states(kind: str) -> Noun | None:
    """The noun whose rows say what things of this kind were."""
    return next((noun for noun in indexed_nouns() if noun.earlier_states_of == kind), None)


def standing_kind(kind: str) -> str:
    """The kind as people know it: of earlier states the kind that they are of."""
    noun = find_noun(kind)
    return noun.earlier_states_of or kind if noun else kind


def plural(kind: str) -> str:
    return _nouns[kind].plural if kind in _nouns else f"{kind}s"


def name_of_ref(said: str, kind: str) -> str:
    """What a thing of this kind is named by, said as its ref (`context:shop`) or without the kind.

    Raises InvalidInput for the ref of another thing by its id: no context is meant by memory:4.
    """
    word, colon, name = said.partition(":")
    other = word.strip().lower()
    if colon and other == kind:
        return name.strip()
    if colon and name.strip().isdecimal() and find_noun(other):
        raise InvalidInput(f"{kind}: {shown(said)} is no {kind}: write its name, its id or {kind}:17.")
    return said


def split_ref(ref: str) -> tuple[Noun, str]:
    """The noun and the name in it; raises InvalidInput for what is no ref."""
    kind, colon, name = ref.strip().partition(":")
    openable = [noun.kind for noun in all_nouns() if noun.open]
    if not colon or not name.strip():
        raise InvalidInput(
            f"{shown(ref)} is not a ref.",
            hint="A ref is a kind, a colon and a name: decision:api/auth/method.",
        )
    if kind.lower() not in openable:
        raise unknown_word("ref", kind, openable)
    return _nouns[kind.lower()], clean_name(name, "ref", at_most=PATH_LENGTH)
