"""Imports a file of an export: all of it or nothing, in steps that let others write."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import uuid4

from django.db import IntegrityError

from ctxhub.core.accounts.projects import clean_slug
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_one_of
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.models import Import, Project
from ctxhub.core.project_deletion import delete_project
from ctxhub.core.search.reindexing import index_missing_of
from ctxhub.core.transfer.file import Checked, check_file
from ctxhub.core.transfer.models import ImportState
from ctxhub.core.transfer.publishing import move_in_steps, publish_project, publish_rows, refuse_overtaken
from ctxhub.core.transfer.staging import FAIL, ON_CONFLICT, Outcome, Staging

# An import whose process has said nothing for so long was cut off.
ALIVE = timedelta(minutes=10)
MOST_TRIES = 3
Progress = Callable[[str, int], None]


@frozen
class Target:
    """Where an import goes: a project, or a new one of this slug and name."""

    project: Project | None = None
    slug: str = ""
    name: str = ""


@frozen
class Imported:
    """What an import has done, or a dry run found. `project`: None for a dry run into a new project."""

    project: Project | None
    checked: Checked
    outcome: Outcome
    is_dry: bool


def import_file(
    path: Path,
    target: Target,
    *,
    on_conflict: str = FAIL,
    dry_run: bool = False,
    by: str = "",
    hub_is_stopped: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Import a file. Raises InvalidInput for a bad line, Conflict where objects differ, and LimitReached;
    nothing is changed then.

    `on_conflict`: objects that differ from those of the same UUID or name are refused ("fail"), stay as they
    are ("skip") or become those of the file ("replace"). `progress` is called with the step and the number
    of lines or objects that it has done since the last call.
    """
    on_conflict = clean_one_of(on_conflict, ON_CONFLICT, "on_conflict")
    if target.project:
        target = Target(Project.objects.get(pk=target.project.pk))  # With the settings of now.
    else:
        clean_slug(target.slug)
    tell = progress or _tell_nobody
    checked = check_file(path, partial(tell, "checked"))
    if dry_run:
        staging = Staging(
            path,
            checked,
            target=target.project,
            staged=None,
            on_conflict=on_conflict,
            alive=partial(tell, "read"),
        )
        staging.run()
        return Imported(target.project, checked, staging.outcome, is_dry=True)
    for last in range(MOST_TRIES - 1, -1, -1):
        try:
            return _import(path, checked, target, on_conflict, by, hub_is_stopped, tell)
        except IntegrityError as error:
            if not last:
                raise Conflict(
                    "Others wrote objects of the same names meanwhile, again and again.",
                    hint="Import it again.",
                ) from error
    raise AssertionError


def _tell_nobody(*_: object) -> None:
    pass


def _import(
    path: Path,
    checked: Checked,
    target: Target,
    on_conflict: str,
    by: str,
    hub_is_stopped: bool,
    tell: Progress,
) -> Imported:
    work = _begin(checked, target, by)
    staged = work.staged
    assert staged
    try:
        staging = Staging(
            path,
            checked,
            target=target.project,
            staged=staged,
            on_conflict=on_conflict,
            alive=partial(_alive, work, tell),
        )
        staging.run()
        if staging.outcome.conflicting and on_conflict == FAIL:
            if target.project:
                refuse_overtaken(target.project.pk, staged.pk)
            raise _conflict(staging.outcome)
        if not target.project:
            _index(work, staged, tell)
            project = publish_project(work, staging)
        else:
            project = target.project
            publish_rows(work, staging, hub_is_stopped=hub_is_stopped)
            _index(work, project, tell)
            Import.objects.filter(pk=work.pk).update(state=ImportState.DONE, finished_at=clock.now())
    except BaseException:
        remove(work)
        raise
    return Imported(project, checked, staging.outcome, is_dry=False)


def _conflict(outcome: Outcome) -> Conflict:
    more = outcome.conflicting - len(outcome.conflicts)
    named = ", ".join(outcome.conflicts) + (f" and {more:,} more" if more else "")
    return Conflict(
        f"{outcome.conflicting:,} objects of the project differ from those of the file: {named}.",
        hint="Import with on_conflict skip, which leaves them as they are, or replace.",
        conflicts=outcome.conflicts,
    )


def _begin(checked: Checked, target: Target, by: str) -> Import:
    now = clock.now()
    with touch_transaction():
        staged = Project.unscoped.create(slug=f"import-{uuid4()}", name="An import at work", is_hidden=True)
        return Import.objects.create(
            project=target.project,
            staged=staged,
            slug=target.slug,
            name=target.name,
            sha256=checked.sha256,
            counts=dict(checked.header.counts),
            by=by,
            started_at=now,
            alive_until=now + ALIVE,
        )


def _alive(work: Import, tell: Progress, count: int, *, step: str = "staged") -> None:
    tell(step, count)
    now = clock.now()
    if work.alive_until - now < ALIVE / 2:
        work.alive_until = now + ALIVE
        with touch_transaction():
            Import.objects.filter(pk=work.pk).update(alive_until=work.alive_until)


def _index(work: Import, project: Project, tell: Progress) -> None:
    for count in index_missing_of(project.pk):
        _alive(work, tell, count, step="indexed")


def remove(work: Import) -> None:
    """Delete what an import has staged; nothing is left of it."""
    work = Import.objects.select_related("staged").filter(pk=work.pk).first() or work
    if work.state == ImportState.STAGING and work.staged:
        delete_project(work.staged)
        Import.objects.filter(pk=work.pk).delete()


def end_cut_off() -> list[str]:
    """Delete what imports that were cut off have staged, and finish those that are past their decision.

    Returns what it did, in words.
    """
    done = []
    for work in Import.objects.exclude(state=ImportState.DONE).filter(alive_until__lt=clock.now()):
        if work.state == ImportState.STAGING:
            remove(work)
            done.append(f"Removed an import of {work.started_at:%Y-%m-%d %H:%M} that was cut off.")
        elif work.project:
            if work.state == ImportState.MOVING and work.staged_id:
                move_in_steps(work, work.project.pk, work.staged_id)
            count = sum(index_missing_of(work.project.pk))
            Import.objects.filter(pk=work.pk).update(state=ImportState.DONE, finished_at=clock.now())
            done.append(f"Finished an import of {work.started_at:%Y-%m-%d %H:%M}: {count:,} objects indexed.")
    return done
