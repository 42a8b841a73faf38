"""What agents wrote, for the first page: the kinds, and of each agent the decision most worth telling."""

from collections.abc import Sequence

from ctxhub.console.away.sources import Details, Kind
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit import sql

READ = 2_000
KEY_SHOWN, VALUE_SHOWN = 32, 24


def most_notable(project_ids: Sequence[int], period: Period) -> Details:
    """For each agent the newest change of a value, else what it decided last. Long values are left out.

    Of the period's newest 2,000 events of decisions, in one statement.
    """
    among, values = sql.among("e.project_id", project_ids)
    begin, end = map(sql.stored_time, (period.begin, period.end))
    data = "json_extract(e.data, '$.{}')" if sql.is_sqlite() else "e.data ->> '{}'"
    of_key = "(PARTITION BY e.project_id, e.agent_id, e.ref ORDER BY e.id)"
    value_first = f"CASE WHEN {data.format('changed')} LIKE '%%\"value\"%%' THEN 0 ELSE 1 END"
    found = sql.rows(
        f"""
        WITH newest AS (
            SELECT e.* FROM core_event e WHERE {among} AND e.noun = 'decision' AND e.at >= %s AND e.at < %s
            ORDER BY e.at DESC, e.id DESC LIMIT {READ}),
        changed AS (
            SELECT e.project_id, e.agent_id, substr(e.ref, {len("decision:") + 1}) AS key, e.verb,
                {data.format("version")} AS version,
                first_value({data.format("was")}) OVER {of_key} AS was,
                first_value(e.verb) OVER {of_key} AS first_verb,
                row_number() OVER (
                    PARTITION BY e.project_id, e.agent_id ORDER BY {value_first}, e.id DESC) AS place
            FROM newest e)
        SELECT c.project_id, c.agent_id, c.key, c.verb, c.first_verb,
            substr(old.value, 1, {VALUE_SHOWN + 1}),
            substr(CASE WHEN d.version = c.version THEN d.value ELSE new.value END, 1, {VALUE_SHOWN + 1})
        FROM changed c LEFT JOIN memory_decision d ON d.project_id = c.project_id AND d.key = c.key
        LEFT JOIN memory_decisionrevision old ON old.decision_id = d.id AND old.version = c.was
        LEFT JOIN memory_decisionrevision new ON new.decision_id = d.id AND new.version = c.version
        WHERE c.place = 1""",
        [*values, begin, end],
    )
    return {(project_id, agent_id): _words(*told) for project_id, agent_id, *told in found}


def _words(key: str, verb: str, first_verb: str, old: str | None, new: str | None) -> Sequence[str]:
    name = key if len(key) <= KEY_SHOWN else key.rpartition("/")[2] or key
    if verb not in ("created", "updated"):
        return [name, verb]
    is_new = first_verb == "created" or not old or old == new
    values = ["=", new] if is_new else [old, ">", new]
    is_short = all(value and len(value) <= VALUE_SHOWN for value in values)
    return [name, *map(str, values)] if is_short else [name]


WRITTEN = [
    Kind("decision", "decisions", 1, details=most_notable),
    Kind("constraint", "constraints", 2),
    Kind("memory", "memories", 4),
    Kind("snapshot", "snapshots", 5),
    Kind("scratchpad", "scratchpads", 7),
]
