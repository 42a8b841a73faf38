"""One import: everything is checked before the lock, chosen and written within it, all or nothing."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import PurePath

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.accounts.selectors.config import config_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import separated
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report, record_import
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.sqlew.changes import choose_changes, clean_changes, note_changes, write_changes
from ctxhub.importers.sqlew.constraints import (
    choose_constraints,
    clean_constraints,
    note_constraints,
    write_constraints,
)
from ctxhub.importers.sqlew.decisions import (
    choose_decisions,
    clean_decisions,
    note_decisions,
    write_decisions,
)
from ctxhub.importers.sqlew.messages import choose_messages, clean_messages, note_messages, write_messages
from ctxhub.importers.sqlew.rows import OldHub

KINDS = (
    *("decisions", "revisions", "rationales", "constraints", "messages", "changes"),
    *("agents", "layers", "tags", "scopes", "categories"),
)
NO_PLACE = {
    "activity": "the log here begins with the import",
    "templates": "define them here: decision template_set",
    "policies": "define them here as templates: decision template_set",
    "tasks": "ctxhub keeps no tasks",
}
SETTINGS = {
    "autodelete_ignore_weekend": "ignore_weekend",
    "autodelete_message_hours": "message_hours",
    "autodelete_file_history_days": "change_days",
}


def import_hub(*, caller: Caller, hub: OldHub, root: PurePath | None = None, dry_run: bool = False) -> Report:
    """Take what the project does not have yet; a dry run writes nothing and reports the same.

    Nobody is named in the log as who did it, so that it is news to every agent, whatever its name.
    `root`: where the repository lay, for paths that were given whole.
    """
    report, at = Report(KINDS), clock.now()
    fit = Fitting(caller, report)
    decisions = clean_decisions(caller, hub.decisions, fit, report, at)
    constraints = clean_constraints(caller, hub.constraints, fit, report, at)
    messages = clean_messages(caller, hub.messages, fit)
    changes = clean_changes(caller, hub.changes, fit, root)
    wanted = Wanted()
    wanted.words["tags"] += _all_words(fit, "tags", hub.tags)
    wanted.words["scopes"] += _all_words(fit, "scopes", hub.scopes)
    _leave_homeless(hub, config_of(caller.project_id), report)
    project_id = caller.project_id
    with nullcontext() if dry_run else write_transaction(project_id):
        decisions = choose_decisions(project_id, decisions, report)
        constraints = choose_constraints(project_id, constraints, report)
        messages = choose_messages(project_id, messages, report, at)
        changes = choose_changes(project_id, changes, report, at)
        note_decisions(decisions, wanted)
        note_constraints(constraints, wanted)
        note_messages(messages, wanted)
        note_changes(changes, wanted)
        vocabulary = Vocabulary(caller, report)
        vocabulary.add(wanted, at, dry_run=dry_run)
        if report.taken and not dry_run:
            write_decisions(project_id, decisions, vocabulary, at)
            write_constraints(project_id, constraints, vocabulary, at)
            write_messages(project_id, messages, vocabulary, at)
            write_changes(project_id, changes, vocabulary, at)
            record_import(project_id, "sqlew", report, at)
    return report


def _leave_homeless(hub: OldHub, config: Config, report: Report) -> None:
    for kind, count in hub.homeless.items():
        report.left_many(kind, count, NO_PLACE[kind])
    for name, ours in SETTINGS.items():
        if hub.settings.get(name, stands := str(int(getattr(config, ours)))) != stands:
            why = "the project's own stay; hub config_set changes them"
            report.left("settings", f"{ours}={hub.settings[name]}", why)


def _all_words(fit: Fitting, kind: str, names: Iterable[str]) -> list[str]:
    parts = (part for name in names for part in separated(name))
    return [word for part in parts if (word := fit.word(kind, part))]
