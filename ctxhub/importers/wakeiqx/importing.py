"""Runs one WakeIQX import: validates before the write lock, selects and writes in one transaction."""

from collections.abc import Sequence
from contextlib import nullcontext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report, record_import
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from ctxhub.importers.wakeiqx.links import choose_links, write_links
from ctxhub.importers.wakeiqx.reader import OldSnapshot
from ctxhub.importers.wakeiqx.snapshots import (
    choose_snapshots,
    clean_snapshots,
    note_snapshots,
    write_snapshots,
)

KINDS = ("snapshots", "causes", "dependencies", "tags")


def import_snapshots(*, caller: Caller, old: Sequence[OldSnapshot], dry_run: bool = False) -> Report:
    """Import what the project does not have yet. A dry run writes nothing and reports the same."""
    report, at, project_id = Report(KINDS), clock.now(), caller.project_id
    cleaned = clean_snapshots(caller, old, Normaliser(caller, report), at)
    wanted = Wanted()
    with nullcontext() if dry_run else write_transaction(project_id):
        chosen, existing = choose_snapshots(project_id, cleaned, report)
        links = choose_links(chosen, {*cleaned, *existing}, report)
        note_snapshots(chosen, wanted)
        vocabulary = Vocabulary(caller, report)
        vocabulary.add(wanted, at, dry_run=dry_run)
        if report.taken and not dry_run:
            ids = existing | write_snapshots(project_id, chosen, vocabulary, at)
            write_links(project_id, links, ids)
            record_import(project_id, "wakeiqx", report, at)
    return report
