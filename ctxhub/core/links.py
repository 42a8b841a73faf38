"""Links from causes to effects, between objects of any kind: what apps register with their nouns.

`hub/links.py` walks along them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple, Protocol

from django.db import models

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import TEXT_BYTES

# Longer summaries are cut by what shows them.
SUMMARY_CHARACTERS = 201
# No reason is longer: two texts, and a word before them.
WHOLE_WHY = 2 * TEXT_BYTES + 20

ObjectKey = tuple[str, int]
"""The kind and the id of an object."""


class Holder(Enum):
    """The end of a link that its name is said of: a reply, the effect, holds `reply_to`."""

    EFFECT = auto()
    CAUSE = auto()
    BOTH = auto()


class Link(NamedTuple):
    """A link of `here`, one of the objects that were asked for, with `there`, its cause or its effect.

    `is_loose`: a walk takes it only to what no other links lead to.
    """

    here: ObjectKey
    there: ObjectKey
    name: str
    is_loose: bool = False
    holder: Holder = Holder.EFFECT


class Directions(NamedTuple):
    """Links with causes, and links with effects."""

    causes: Sequence[Link]
    effects: Sequence[Link]


class Words(NamedTuple):
    """A link as the verb of a sentence about its holder, and of one about its other end."""

    forwards: str
    backwards: str


@frozen
class Asked:
    """Which links are read: `to_causes` from these objects to their causes, else to their effects.

    A reader returns at most `at_most` links.
    """

    project_id: int
    keys: Sequence[ObjectKey]
    to_causes: bool
    at_most: int

    def ids(self, kind: str) -> list[int]:
        return [row_id for of_kind, row_id in self.keys if of_kind == kind]


@frozen
class Head:
    """What a list shows of an object. `name`: its ref, or its id alone; `type`: its kind, or what it was.

    `at`: when it was made or last changed, `made`: when it was made; `refs`: the refs that other objects may
    have stored for it; `why`: the reason that it was given, "" where it has none.
    """

    name: int | str
    type: str
    summary: str
    at: datetime
    made: datetime
    refs: Sequence[str] = ()
    why: str = ""


class HeadReader(Protocol):
    """Reads the heads of rows by project id and row ids, in one query; unknown rows are left out."""

    def __call__(
        self, project_id: int, ids: Sequence[int], *, why_characters: int = SUMMARY_CHARACTERS
    ) -> Mapping[int, Head]: ...


@frozen
class Reach:
    """The objects that a walk reaches along links of one noun, with the start, and the links among them."""

    heads: Mapping[ObjectKey, Head]
    links: Sequence[Link]


class CauseWriter(Protocol):
    """Stores that an object follows from another, and records it, in the open transaction.

    `refs`: of the effect and of the cause, as the log shows them.
    """

    def __call__(
        self,
        *,
        project_id: int,
        agent_id: int | None,
        effect: ObjectKey,
        cause: ObjectKey,
        refs: tuple[str, str],
        at: datetime,
    ) -> None: ...


@frozen
class LinkSource:
    """The links that a noun holds, each function with one query.

    `read`: the links that walks follow. `read_beside`: further ones, shown for the start of a walk alone.
    `read_reach(project_id, row_id, to_causes)`: all that a walk from one of its rows comes to along its own
    links; an unknown row reaches nothing. Without it walks read one step at a time.
    `read_direct(project_id, key, at_most)`: the links of `read` and of `read_beside` of one object, with its
    causes and with its effects, in one query. Without it `read` has all.
    `write_cause`: makes such a link between objects of any kinds; one noun has it.
    `words`: of its links, by name.
    """

    read: Callable[[Asked], Sequence[Link]]
    read_beside: Callable[[Asked], Sequence[Link]] | None = None
    read_reach: Callable[[int, int, bool], Reach] | None = None
    read_direct: Callable[[int, ObjectKey, int], Directions] | None = None
    write_cause: CauseWriter | None = None
    words: Mapping[str, Words] = field(default_factory=dict, hash=False)


def heads_of(
    kind: str,
    model: type[models.Model],
    summary: str,
    *,
    at: str,
    made: str = "",
    ref: str = "id",
    also: str = "",
    why: str = "''",
) -> HeadReader:
    """A reader of heads from columns of the model.

    `at`: when it was made or last changed; `made`: when it was made, if `at` is not that; `ref`: what follows
    the kind in its refs; `also`: what may follow it as well; `why`: an SQL expression on the alias `d`.
    """
    table = model._meta.db_table
    columns = f"d.id, d.{ref}, {f'd.{also}' if also else repr('')}, d.{at}, d.{made or at}"
    text = f"substr(d.{summary}, 1, {SUMMARY_CHARACTERS})"

    def read(
        project_id: int, ids: Sequence[int], *, why_characters: int = SUMMARY_CHARACTERS
    ) -> Mapping[int, Head]:
        where, values = sql.by_ids("d", project_id, ids)
        rows = sql.rows(
            f"SELECT {columns}, {text}, substr({why}, 1, {why_characters}) FROM {table} d WHERE {where}",
            values,
        )
        found = {}
        for row_id, name, other, changed, created, shown, reason in rows:
            refs = [f"{kind}:{word}" for word in (name, other) if word]
            times = sql.read_time(changed), sql.read_time(created)
            found[row_id] = Head(refs[0], kind, shown, *times, refs, reason)
        return found

    return read
