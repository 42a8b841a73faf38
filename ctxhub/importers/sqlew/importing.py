"""Runs one sqlew import: validates before the write lock, selects and writes in one transaction."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import PurePath

from ctxhub.core.accounts.config import config_of
from ctxhub.core.accounts.models import Config
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.importers.shared.normalising import Normaliser
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
UNSUPPORTED_REASONS = {
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
    """Import what the project does not have yet. A dry run writes nothing and reports the same.

    The event names no agent, so that it is news to every agent.
    `root`: the repository's path, to make absolute paths relative.
    """
    report, at = Report(KINDS), clock.now()
    normaliser = Normaliser(caller, report)
    decisions = clean_decisions(caller, hub.decisions, normaliser, report, at)
    constraints = clean_constraints(caller, hub.constraints, normaliser, report, at)
    messages = clean_messages(caller, hub.messages, normaliser)
    changes = clean_changes(caller, hub.changes, normaliser, root)
    wanted = Wanted()
    wanted.words["tags"] += _normalise_all(normaliser, "tags", hub.tags)
    wanted.words["scopes"] += _normalise_all(normaliser, "scopes", hub.scopes)
    _report_unsupported(hub, config_of(caller.project_id), report)
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


def _report_unsupported(hub: OldHub, config: Config, report: Report) -> None:
    for kind, count in hub.unsupported.items():
        report.left_many(kind, count, UNSUPPORTED_REASONS[kind])
    for name, ours in SETTINGS.items():
        if hub.settings.get(name, current := str(int(getattr(config, ours)))) != current:
            why = "the project's own stay; hub config_set changes them"
            report.left("settings", f"{ours}={hub.settings[name]}", why)


def _normalise_all(normaliser: Normaliser, kind: str, names: Iterable[str]) -> list[str]:
    return [word for name in normaliser.separated(kind, names) if (word := normaliser.word(kind, name))]
