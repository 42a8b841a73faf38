"""Reads one project of a sqlew database: rows in insertion order, with names instead of ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ctxhub.core.kit.errors import shown
from ctxhub.importers.shared.files import NotReadable
from ctxhub.importers.shared.values import moment_of, read_json, text_of
from ctxhub.importers.sqlew.database import OldDatabase
from ctxhub.importers.sqlew.rows import (
    OldChange,
    OldConstraint,
    OldDecision,
    OldHub,
    OldMessage,
    OldVersion,
    Reasons,
)

PROJECT_TABLES = ("decisions", "decisions_numeric", "constraints", "file_changes")
UNSUPPORTED_TABLES = {
    "activity_log": "activity",
    "decision_templates": "templates",
    "decision_policies": "policies",
    "tasks": "tasks",
}


def read_hub(database: OldDatabase, project: str | None = None) -> OldHub:
    """Read the named project, or the only one with rows. Raises NotReadable if that is ambiguous."""
    database = database.of_project(_project_id(database, project))
    agents = database.names("agents")
    layers = database.names("layers")
    return OldHub(
        version=database.version,
        decisions=list(_decisions(database, agents, layers)),
        constraints=list(_constraints(database, agents, layers)),
        messages=list(_messages(database, agents)),
        changes=list(_changes(database, agents, layers)),
        tags=list(database.names("tags").values()),
        scopes=list(database.names("scopes").values()),
        settings={key: text_of(value) or "" for key, value in database.rows("config", "key", "value")},
        unsupported={
            kind: count for table, kind in UNSUPPORTED_TABLES.items() if (count := database.count(table))
        },
    )


def _project_id(database: OldDatabase, name: str | None) -> int | None:
    """The id of the project to read; None if the database has no projects. Raises NotReadable."""
    projects = database.names("projects")
    if not projects:
        if name:
            raise NotReadable(f"It holds one project without a name, so there is no {name!r} to choose.")
        return None
    if name:
        found = [row_id for row_id, known in projects.items() if known.casefold() == name.casefold()]
        if not found:
            raise NotReadable(f"It has no project {name!r}; its projects: {_listed(projects.values())}.")
        return found[0]
    used = {
        row_id: known
        for row_id, known in projects.items()
        if any(database.of_project(row_id).count(table) for table in PROJECT_TABLES)
    }
    if len(used) > 1:
        raise NotReadable(
            f"It holds several projects: {_listed(used.values())}. Import one after the other, each into a"
            " project of its own: --from NAME."
        )
    return next(iter(used), None) or next(iter(projects))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(shown, sorted(names)))


# -- Decisions -------------------------------------------------------------------------------------


def _decisions(
    database: OldDatabase, agents: Mapping[int, str], layers: Mapping[int, str]
) -> Iterable[OldDecision]:
    keys = database.names("context_keys", "key_name|key")
    tags = _names_by_key(database, "decision_tags", "tag_id", database.names("tags"))
    scopes = _names_by_key(database, "decision_scopes", "scope_id", database.names("scopes"))
    histories = _histories(database, agents)
    reasons = _reasons(database)
    for table in ("decisions", "decisions_numeric"):
        for key_id, value, agent, layer, version, status, at in database.rows(
            table, "key_id", "value", "agent_id", "layer_id", "version", "status", "ts"
        ):
            yield OldDecision(
                key=keys.get(key_id),
                value=value,
                is_number=table == "decisions_numeric",
                version=text_of(version),
                status=status,
                layer=layers.get(layer),
                agent=agents.get(agent),
                at=moment_of(at),
                tags=tags[key_id],
                scopes=scopes[key_id],
                history=histories[key_id],
                reasons=reasons.get(key_id, Reasons()),
            )


def _names_by_key(
    database: OldDatabase, table: str, column: str, names: Mapping[int, str]
) -> dict[int, list[str]]:
    """Names linked to each key, by key id. Version 1 linked them to the decision's id."""
    key_of: Mapping[int, int] = {}
    if not database.has(table, "decision_key_id") and database.has("decisions", "id"):
        key_of = dict(database.rows("decisions", "id", "key_id"))
    words: dict[int, list[str]] = defaultdict(list)
    for link, word in database.rows(table, "decision_key_id|key_id|decision_id", column):
        if word in names:
            words[key_of.get(link, link)].append(names[word])
    return words


def _histories(database: OldDatabase, agents: Mapping[int, str]) -> dict[int, list[OldVersion]]:
    histories: dict[int, list[OldVersion]] = defaultdict(list)
    for key_id, value, version, agent, at in database.rows(
        "decision_history", "key_id", "value", "version", "agent_id", "ts"
    ):
        histories[key_id].append(OldVersion(value, text_of(version), agents.get(agent), moment_of(at)))
    return histories


def _reasons(database: OldDatabase) -> dict[int, Reasons]:
    """Reasons by key id: all rationales, newest first; only the newest alternatives and tradeoffs."""
    reasons: dict[int, Reasons] = {}
    for key_id, rationale, alternatives, tradeoffs in database.rows(
        "decision_context",
        *("decision_key_id|decision_id", "rationale", "alternatives_considered|alternatives", "tradeoffs"),
    ):
        older = reasons.get(key_id, Reasons())
        rationales = [text for text in (text_of(rationale), older.rationale) if text]
        reasons[key_id] = Reasons(
            rationale="\n\nBefore that: ".join(dict.fromkeys(rationales)) or None,
            alternatives=read_json(alternatives) or older.alternatives,
            tradeoffs=read_json(tradeoffs) or older.tradeoffs,
        )
    return reasons


# -- The other kinds -------------------------------------------------------------------------------


def _constraints(
    database: OldDatabase, agents: Mapping[int, str], layers: Mapping[int, str]
) -> Iterable[OldConstraint]:
    categories, tags = database.names("constraint_categories"), database.names("tags")
    tagged: dict[int, list[str]] = defaultdict(list)
    for constraint, tag in database.rows("constraint_tags", "constraint_id", "tag_id"):
        if tag in tags:
            tagged[constraint].append(tags[tag])
    for row_id, category, text, priority, layer, agent, active, reason, at in database.rows(
        "constraints",
        *("id", "category_id", "constraint_text", "priority", "layer_id", "created_by|agent_id"),
        *("active|is_active", "reason", "ts"),
    ):
        yield OldConstraint(
            category=categories.get(category),
            text=text_of(text),
            priority=priority,
            layer=layers.get(layer),
            agent=agents.get(agent),
            is_active=active is None or bool(active),
            reason=text_of(reason),
            at=moment_of(at),
            tags=tagged[row_id],
        )


def _messages(database: OldDatabase, agents: Mapping[int, str]) -> Iterable[OldMessage]:
    """Messages. The recipient is '' if the agent's row is missing, None for everyone."""
    for sender, to, kind, priority, text, payload, is_read, at in database.rows(
        "agent_messages",
        *("from_agent_id", "to_agent_id", "msg_type", "priority", "message", "payload", "read", "ts"),
    ):
        yield OldMessage(
            sender=agents.get(sender),
            to=None if to is None else agents.get(to, ""),
            type=kind,
            priority=priority,
            text=text_of(text),
            payload=read_json(payload),
            is_read=bool(is_read),
            at=moment_of(at),
        )


def _changes(
    database: OldDatabase, agents: Mapping[int, str], layers: Mapping[int, str]
) -> Iterable[OldChange]:
    paths = database.names("files", "path")
    for path, change, layer, agent, description, at in database.rows(
        "file_changes", "file_id", "change_type", "layer_id", "agent_id", "description", "ts"
    ):
        yield OldChange(
            path=paths.get(path),
            change=change,
            layer=layers.get(layer),
            agent=agents.get(agent),
            description=text_of(description),
            at=moment_of(at),
        )
