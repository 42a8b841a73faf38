"""Imports file changes that are recent enough for retention to keep."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath

from ctxhub.core.accounts.config import config_of
from ctxhub.core.events.working_time import moment_before
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_choice, clean_text, refuse_secret
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.rows import OldChange
from tracking.changes.history import HISTORY, new_changes
from tracking.changes.rows import CHANGES, ChangeRow
from tracking.files.paths import clean_file
from tracking.files.rows import find_resources, make_resources
from tracking.models import ChangeKind, FileChange

Identity = tuple[str, str, int, datetime]
"""Path, case-folded agent, kind, time: identifies a change, since sqlew's ids are not kept."""


@frozen
class NewChange:
    """A change to import. `agent`: None if unknown."""

    path: str
    change: ChangeKind
    layer: str | None
    agent: str | None
    description: str
    at: datetime

    @property
    def identity(self) -> Identity:
        return self.path, (self.agent or "").casefold(), self.change, self.at


def clean_changes(
    caller: Caller, old_changes: Iterable[OldChange], normaliser: Normaliser, root: PurePath | None
) -> list[NewChange]:
    """Validate by the rules of `record`. Absolute paths below `root` become relative to it."""
    new = []
    for old in old_changes:
        try:
            new.append(_cleaned(caller, old, normaliser, root))
        except InvalidInput as error:
            normaliser.leave("changes", old.path, error)
    return new


def _cleaned(caller: Caller, old: OldChange, normaliser: Normaliser, root: PurePath | None) -> NewChange:
    if old.path is None:
        raise InvalidInput("its path is missing.")
    if old.at is None:
        raise InvalidInput("its time is not known.")
    path = clean_file(normaliser.visible("changes", _relative_to(old.path, root)))
    refuse_secret(path, "path", caller)
    return NewChange(
        path=path,
        change=clean_choice(old.change, ChangeKind, "change"),
        layer=normaliser.word("layers", old.layer) if old.layer else None,
        agent=normaliser.agent(old.agent),
        description=clean_text(old.description, "description", caller),
        at=old.at,
    )


def _relative_to(path: str, root: PurePath | None) -> str:
    """The path relative to the repository: sqlew also stores absolute paths."""
    return path.removeprefix(f"{root}/") if root else path


def choose_changes(
    project_id: int, cleaned: Sequence[NewChange], report: Report, at: datetime
) -> list[NewChange]:
    """Select changes that are not stored yet and that retention would keep."""
    config = config_of(project_id)
    due = moment_before(at, config.changes_last, config)
    kept = [new for new in cleaned if new.at >= due]
    if too_old := len(cleaned) - len(kept):
        why = f"older than change_days ({config.change_days}), they would be removed at once"
        report.left_many("changes", too_old, why)
    chosen = []
    for batch in batches(kept):
        existing = _stored_identities(project_id, batch)
        for new in batch:
            if existing[new.identity]:
                existing[new.identity] -= 1
                report.found("changes")
            else:
                chosen.append(new)
                report.took("changes")
    return chosen


def _stored_identities(project_id: int, batch: Sequence[NewChange]) -> Counter[Identity]:
    """Number of stored changes with these times, by identity."""
    stored = FileChange.objects.in_project(project_id).filter(at__in={new.at for new in batch})
    rows = stored.values_list("resource__path", "agent__folded", "change", "at")
    return Counter((path, agent or "", change, at) for path, agent, change, at in rows)


def note_changes(chosen: Iterable[NewChange], wanted: Wanted) -> None:
    for new in chosen:
        wanted.note(new.agent, new.at, new.layer)


def write_changes(project_id: int, chosen: Sequence[NewChange], vocabulary: Vocabulary, at: datetime) -> None:
    for batch in batches(chosen):
        paths = list(dict.fromkeys(new.path for new in batch))
        files = find_resources(project_id, paths)
        missing = [path for path in paths if path not in files]
        new_files = make_resources(project_id, missing, at) if missing else {}
        files |= new_files
        rows = [_as_row(new, files[new.path], vocabulary) for new in batch]
        changes = new_changes(CHANGES.insert(project_id, rows), new_files, at, recorded_at=at)
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)


def _as_row(new: NewChange, resource_id: int, vocabulary: Vocabulary) -> ChangeRow:
    return ChangeRow(
        resource=new.path,
        resource_id=resource_id,
        agent_id=vocabulary.agent_id(new.agent),
        change=new.change,
        layer_id=vocabulary.layer_id(new.layer),
        description=new.description,
        at=new.at,
    )
