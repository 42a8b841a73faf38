"""Lets an import's rows be seen: the hidden project becomes a project, or its rows become another's."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model

from ctxhub.core import registry
from ctxhub.core.events.counters import add_to_counters
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Import, Origin, PathPattern, Project, Tally
from ctxhub.core.paths.services import PatternChange, delete_patterns, write_patterns
from ctxhub.core.search.index import drop_entries
from ctxhub.core.transfer.declaration import Exported, exported_kind, exported_kinds
from ctxhub.core.transfer.models import ImportState
from ctxhub.core.transfer.records import WORDS
from ctxhub.core.transfer.staging import Outcome, Staging
from ctxhub.core.transfer.writing import update_objects

# While a hub runs, writers wait for the last transaction: about 10 µs for a row that moves, 0.3 ms for one
# that is replaced.
MOST_REPLACED = 2_000
MOST_MOVED = 20_000
# Rows that move in one step of those that take several.
ROWS_AT_ONCE = 5_000
OUTCOMES = ("new", "replaced", "same", "skipped")


def publish_project(work: Import, staging: Staging) -> Project:
    """Let the hidden project be seen under the slug and the name of the import."""
    project = staging.staged
    assert project
    at = clock.now()
    with write_transaction(project.pk):
        project.slug, project.name, project.is_hidden = work.slug, work.name or work.slug, False
        project.config = staging.config or {}
        project.save()
        _add_origins(project, staging)
        Import.objects.filter(pk=work.pk).update(
            project=project, staged=None, state=ImportState.DONE, finished_at=at
        )
        _record(project.pk, totals(staging.outcome), work.by)
    return project


def publish_rows(work: Import, staging: Staging, *, hub_is_stopped: bool) -> None:
    """Let the target have the rows of the hidden project.

    Up to MOST_MOVED new objects are seen at once. More appear kind by kind, so that no writer waits for a
    second; an import that is cut off then is finished by the next cleanup. Raises LimitReached if too many
    are replaced, and IntegrityError if somebody has meanwhile written an object of the same name.
    """
    target, staged = staging.target, staging.staged
    assert target
    assert staged
    outcome = staging.outcome
    is_long = sum(outcome.new.values()) > MOST_MOVED and not hub_is_stopped
    if not hub_is_stopped:
        _refuse_long(outcome)
    with write_transaction(target.pk):
        refuse_overtaken(target.pk, staged.pk)
        if staging.is_empty:
            _take_words(target, staging)
        for kind, objects in staging.replacing.items():
            _replace(target.pk, _exported(kind), objects)
        _forget_origins(target.pk, staged.pk)
        _add_origins(target, staging)
        if staging.config is not None:
            Project.objects.filter(pk=target.pk).update(config=staging.config)
        Import.objects.filter(pk=work.pk).update(state=ImportState.MOVING, counts=totals(outcome))
        if not is_long:
            for model in moved_models():
                _move(model, target.pk, staged.pk)
            _end(work, target.pk, staged.pk)
    if is_long:
        move_in_steps(work, target.pk, staged.pk)


def move_in_steps(work: Import, target: int, staged: int) -> None:
    """Move the rows of an import that is past its decision, those that belong to others before them."""
    for model in sorted(moved_models(), key=lambda model: model in {each.model for each in exported_kinds()}):
        while _move_some(model, target, staged):
            pass
    with write_transaction(target):
        _end(work, target, staged)


def _move_some(model: type[Model], target: int, staged: int) -> bool:
    """Move some rows; returns whether there were any.

    Only where a name is taken are names compared: of rows that have just moved PostgreSQL has no statistics,
    and compares each with each.
    """
    with write_transaction(target):
        try:
            with transaction.atomic():
                return _move(model, target, staged, at_most=ROWS_AT_ONCE)
        except IntegrityError:
            if not _drop_names_taken(model, target, staged):
                raise
            return True


def _move(model: type[Model], target: int, staged: int, *, at_most: int = 0) -> bool:
    """Let rows belong to the target; returns whether there were any."""
    table = model._meta.db_table
    if not at_most:
        sql.execute(f"UPDATE {table} SET project_id = %s WHERE project_id = %s", [target, staged])
        return False
    some = f"SELECT id FROM {table} WHERE project_id = %s LIMIT {at_most}"
    return bool(
        sql.rows(f"UPDATE {table} SET project_id = %s WHERE id IN ({some}) RETURNING 1", [target, staged])
    )


def _end(work: Import, target: int, staged: int) -> None:
    _move_counts(target, staged)
    counts = Import.objects.values_list("counts", flat=True).get(pk=work.pk)
    _record(target, counts, work.by)
    Import.objects.filter(pk=work.pk).update(staged=None, state=ImportState.SHOWN)
    Project.unscoped.filter(pk=staged).delete()


def _taken(exported: Exported, target: int, staged: int) -> list[int]:
    """The ids of staged objects whose names the target has."""
    if not exported.natural:
        return []
    same = " AND ".join(f"t.{column} = s.{column}" for column in exported.natural)
    named = f"s.{exported.natural[0]} <> ''" if len(exported.natural) == 1 else ""
    found = sql.rows(
        f"SELECT s.id FROM {exported.table} s JOIN {exported.table} t ON t.project_id = %s AND {same}"
        f" WHERE s.project_id = %s{f' AND {named}' if named else ''}",
        [target, staged],
    )
    return [row_id for (row_id,) in found]


def refuse_overtaken(target: int, staged: int) -> None:
    """Raise IntegrityError if the target has got an object of the name or the UUID of a staged one."""
    for exported in exported_kinds(with_log=True):
        if _taken(exported, target, staged) or _has_come(exported, target, staged):
            raise IntegrityError(f"{exported.kind}: somebody has written a staged object meanwhile")


def _has_come(exported: Exported, target: int, staged: int) -> bool:
    """Whether the target has an object of the UUID of a staged one: another import brought it."""
    found = sql.rows(
        f"""
        SELECT 1 FROM core_origin s
        JOIN core_origin t ON t.project_id = %s AND t.uuid = s.uuid AND t.kind = s.kind
        JOIN {exported.table} o ON o.id = t.object_id AND o.project_id = t.project_id
        WHERE s.project_id = %s AND s.kind = %s LIMIT 1""",
        [target, staged, exported.kind],
    )
    return bool(found)


def _drop_names_taken(model: type[Model], target: int, staged: int) -> bool:
    """Somebody has written an object of the same name since the decision: theirs is newer, and stays.

    Returns whether there was any.
    """
    exported = next((each for each in exported_kinds(with_log=True) if each.model is model), None)
    ids = _taken(exported, target, staged) if exported else []
    delete_rows(model, ids)
    return bool(ids)


def moved_models() -> Iterator[type[Model]]:
    """The models of the rows that an import writes."""
    for exported in exported_kinds(with_log=True):
        yield exported.model
        yield from (part.model for part in exported.parts)
        yield from (many.remote_field.through for many in exported.words.values())
        yield from exported.writes
    yield Origin
    yield PathPattern


def _refuse_long(outcome: Outcome) -> None:
    replaced = sum(outcome.replaced.values())
    if replaced > MOST_REPLACED:
        raise LimitReached(
            f"{replaced:,} objects would be replaced: while a hub runs, at most {MOST_REPLACED:,} may be, as"
            " the others wait for it.",
            hint="Stop the hub, and import with --hub-stopped.",
        )


def _exported(kind: str) -> Exported:
    exported = exported_kind(kind)
    assert exported
    return exported


def _take_words(target: Project, staging: Staging) -> None:
    """An empty project gets the words of the file alone, spelled as they are there."""
    for exported in exported_kinds():
        if exported.model not in WORDS:
            continue
        known = staging.spelled.get(exported.kind, {})
        update_objects(target.pk, exported, known, parts=False)
        if exported.model is not Agent:
            exported.model._base_manager.filter(project=target).exclude(pk__in=[*known]).delete()


def _replace(project_id: int, exported: Exported, objects: Any) -> None:
    ids = [*objects]
    noun = registry.find_noun(exported.kind)
    if noun and noun.documents:
        drop_entries(project_id, exported.kind, ids)  # While its earlier states are there.
    update_objects(project_id, exported, objects, parts=True)
    if exported.finish:
        exported.finish(project_id, ids)
    if noun and noun.history and noun.history.has_paths:
        delete_patterns(exported.kind, ids)
        patterns = noun.history.patterns_of(project_id, ids)
        write_patterns(
            project_id, exported.kind, [PatternChange(row_id, (), each) for row_id, each in patterns.items()]
        )


def _move_counts(target: int, staged: int) -> None:
    rows = Tally.objects.in_project(staged).values_list("noun", "layer", "status", "count")
    add_to_counters(target, Counter({(noun, layer, status): count for noun, layer, status, count in rows}))
    Tally.objects.in_project(staged).delete()


def _forget_origins(target: int, staged: int) -> None:
    """Forget where objects came from that were deleted, and come again."""
    sql.execute(
        """
        DELETE FROM core_origin WHERE project_id = %s AND EXISTS (
            SELECT 1 FROM core_origin s
            WHERE s.project_id = %s AND s.kind = core_origin.kind AND s.uuid = core_origin.uuid)""",
        [target, staged],
    )


def _add_origins(target: Project, staging: Staging) -> None:
    """Remember by which UUIDs the file names objects that the target had already."""
    known = [
        Origin(project=target, kind=kind, object_id=row_id, uuid=uuid)
        for kind, row_id, uuid in staging.origins
    ]
    Origin.unscoped.bulk_create(known, batch_size=500, ignore_conflicts=True)


def totals(outcome: Outcome) -> dict[str, int]:
    return {name: sum(getattr(outcome, name).values()) for name in OUTCOMES}


def _record(project_id: int, counts: Mapping[str, int], by: str) -> None:
    """Write the event of an import, the only one. It names no agent, so that it is news to every agent."""
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    data = {**counts, "by": by, "note": f"export: {note}"}
    change = Change("hub", "imported", "hub:export", data)
    record(project_id=project_id, agent_id=None, changes=[change], at=clock.now())
