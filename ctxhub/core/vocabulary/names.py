"""Looks up the rows for the names in a call, and inserts those that a write needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.dispatch import Signal

from ctxhub.core.accounts.names_of_people import forget_names, is_name_of_person, name_of_person
from ctxhub.core.kit import sql
from ctxhub.core.kit.batches import keep_if_repeated
from ctxhub.core.kit.caller import Caller, for_readers
from ctxhub.core.kit.errors import shown, unknown_word
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent
from ctxhub.core.vocabulary.tag_filters import TagFilter, may_be_found, read_tag_filters


@dataclass(slots=True)
class Vocabulary:
    """Ids by case-folded name, and spellings. Valid only in the transaction that read them.

    `spellings`: the stored spelling of each word, by kind ("tag") and case-folded name.
    """

    agent_id: int | None = None
    tags: dict[str, int] = field(default_factory=dict)
    scopes: dict[str, int] = field(default_factory=dict)
    categories: dict[str, int] = field(default_factory=dict)
    layers: dict[str, tuple[int, str]] = field(default_factory=dict)
    spellings: dict[tuple[str, str], str] = field(default_factory=dict)

    def layer(self, name: str) -> tuple[int, str]:
        """Id and spelling of a layer. Raises InvalidInput, with the known layers, if there is none."""
        if found := self.layers.get(name.casefold()):
            return found
        known = [spelling for _, spelling in sorted(self.layers.values())]
        raise for_readers(unknown_word("layer", name, known), otherwise=f"layer: {shown(name)} is not known.")

    def word_id(self, field: str, name: str) -> int:
        """The id of a stored word, by the field that holds it: tags, scopes."""
        ids = self.tags if field == "tags" else self.scopes
        return ids[name.casefold()]

    def found_by(self, filters: Sequence[TagFilter]) -> list[dict[str, int]]:
        """The tags that each of these filters finds, as `tags`; they were read with `find_vocabulary`."""
        return [
            {folded: tag_id for folded, tag_id in self.tags.items() if each.finds(folded)} for each in filters
        ]

    def spelled(self, kind: str, name: str) -> str:
        """The name in the project's spelling, which is that of its first use."""
        return self.spellings.get((kind, name.casefold()), name)


def ids_of(found: Iterable[Mapping[str, int]]) -> list[list[int]]:
    """The ids of the words that each filter found."""
    return [list(words.values()) for words in found]


def find_vocabulary(
    project_id: int,
    *,
    agent: str = "",
    tags: Iterable[str] = (),
    tag_filters: Sequence[TagFilter] = (),
    scopes: Iterable[str] = (),
    categories: Iterable[str] = (),
    layers: bool = False,
) -> Vocabulary:
    """Look up all names in one query; unknown names are left out. `layers`: read all layers.

    `tag_filters`: read the tags that they may find.
    """
    parts, values = [], []
    by_kind = {"agent": [agent] if agent else [], "tag": tags, "scope": scopes, "category": categories}
    for kind, names in ((kind, list(names)) for kind, names in by_kind.items()):
        if names:
            parts.append(
                f"SELECT '{kind}', folded, id, name FROM core_{kind} "
                f"WHERE project_id = %s AND folded IN ({sql.marks(names)})"
            )
            values += [project_id, *(name.casefold() for name in names)]
    if tag_filters:
        where, found = may_be_found(tag_filters)
        parts.append(f"SELECT 'tag', folded, id, name FROM core_tag WHERE project_id = %s AND {where}")
        values += [project_id, *found]
    if layers:
        parts.append("SELECT 'layer', folded, id, name FROM core_layer WHERE project_id = %s")
        values.append(project_id)
    words = Vocabulary()
    ids = {"tag": words.tags, "scope": words.scopes, "category": words.categories}
    for kind, folded, row_id, name in sql.rows(" UNION ALL ".join(parts), values) if parts else ():
        words.spellings[kind, folded] = name
        if kind == "agent":
            words.agent_id = row_id
        elif kind == "layer":
            words.layers[folded] = (row_id, name)
        else:
            ids[kind][folded] = row_id
    return words


def find_tag_ids(project_ids: Sequence[int], text: str) -> list[int]:
    """The ids of the tags of these projects that one entry of a filter finds. Raises InvalidInput."""
    filters = read_tag_filters([text], "tag")
    among, values = sql.among("project_id", project_ids)
    where, bounds = may_be_found(filters)
    found = sql.rows(f"SELECT folded, id FROM core_tag WHERE {among} AND {where}", [*values, *bounds])
    return [tag_id for folded, tag_id in found if any(each.finds(folded) for each in filters)]


def scope_ids_of(project_id: int, scope: str) -> list[int]:
    """The ids of the scopes that match a name or a glob (`api/*`)."""
    folded = clean_name(scope, "scope").casefold()
    if "*" not in folded:
        return list(find_vocabulary(project_id, scopes=[folded]).scopes.values())
    found = sql.rows(
        "SELECT id FROM core_scope WHERE project_id = %s AND folded LIKE %s ESCAPE '\\'",
        [project_id, _like(folded)],
    )
    return [row_id for (row_id,) in found]


def _like(glob: str) -> str:
    return glob.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")


# Sent in the transaction that inserts an agent. Arguments: project_id, agent_id, name, at.
agent_registered = Signal()


def register_words(
    words: Vocabulary,
    *,
    caller: Caller,
    tags: Iterable[str] = (),
    scopes: Iterable[str] = (),
    categories: Iterable[str] = (),
    at: datetime,
) -> None:
    """Insert what `find_vocabulary` did not find: the caller's agent, tags, scopes and categories."""
    if words.agent_id is None:
        words.agent_id = register_agent(caller, at)
    for kind, names, known in (
        ("tag", tags, words.tags),
        ("scope", scopes, words.scopes),
        ("category", categories, words.categories),
    ):
        for folded, row_id, name in _register(f"core_{kind}", caller.project_id, names, known):
            known[folded] = row_id
            words.spellings[kind, folded] = name


def register_agent(caller: Caller, at: datetime) -> int:
    """Insert the caller's agent if it is new, and set its last-seen time to `at`; returns its id.

    One that only had a token is first seen now. Raises NotAllowed for a new agent with the name of a person.
    """
    return _insert_agent(
        caller,
        at,
        seen_at=at,
        known="SET created_at = CASE WHEN core_agent.last_seen_at IS NULL THEN excluded.created_at"
        " ELSE core_agent.created_at END, last_seen_at = excluded.last_seen_at",
    )


def name_agent(caller: Caller, at: datetime) -> int:
    """Insert the caller's agent if it is new, as one that nobody has seen yet; returns its id.

    For what names an agent before its first call: a token. Raises NotAllowed for a new agent with the name of
    a person.
    """
    return _insert_agent(caller, at, seen_at=None, known="SET folded = excluded.folded")


def _insert_agent(caller: Caller, at: datetime, *, seen_at: datetime | None, known: str) -> int:
    kind = Agent.Kind.HUMAN if caller.is_person else Agent.Kind.AGENT
    moment, seen = sql.stored_time(at), seen_at and sql.stored_time(seen_at)
    [(agent_id, created_at)] = sql.insert(
        "core_agent",
        ("project_id", "name", "folded", "kind", "created_at", "last_seen_at"),
        [(caller.project_id, caller.agent, caller.agent.casefold(), kind, moment, seen)],
        f"ON CONFLICT (project_id, folded) DO UPDATE {known} RETURNING id, created_at",
    )
    if sql.read_time(created_at) == at:
        _check_new_name(caller)
        agent_registered.send(None, project_id=caller.project_id, agent_id=agent_id, name=caller.agent, at=at)
        keep_if_repeated(partial(_insert_alone, caller, at, seen_at, known))
    return int(agent_id)


def _check_new_name(caller: Caller) -> None:
    if caller.is_person:
        forget_names()
    elif is_name_of_person(caller.project_id, caller.agent):
        raise name_of_person(caller.project_id, caller.agent)


def _insert_alone(caller: Caller, at: datetime, seen_at: datetime | None, known: str) -> None:
    with write_transaction(caller.project_id):
        _insert_agent(caller, at, seen_at=seen_at, known=known)


def _register(
    table: str, project_id: int, names: Iterable[str], known: dict[str, int]
) -> list[tuple[Any, ...]]:
    missing = {name.casefold(): name for name in names if name.casefold() not in known}
    if not missing:
        return []
    return sql.insert(
        table,
        ("project_id", "name", "folded"),
        [(project_id, name, folded) for folded, name in missing.items()],
        # Another writer may have inserted the name meanwhile: DO NOTHING would return no row for it.
        "ON CONFLICT (project_id, folded) DO UPDATE SET folded = excluded.folded RETURNING folded, id, name",
    )
