"""Runs one scratchpad import: validates before the write lock, selects and writes in one transaction."""

from contextlib import nullcontext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.importers.scratchpads.pads import choose_pads, clean_pads, write_pads
from ctxhub.importers.scratchpads.reader import OldPads
from ctxhub.importers.scratchpads.workflows import choose_workflows, clean_workflows, write_workflows
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report, record_import
from memory.workflows.rows import touch_workflows

KINDS = ("workflows", "scratchpads")


def import_pads(*, caller: Caller, old: OldPads, dry_run: bool = False) -> Report:
    """Import what the project does not have yet. A dry run writes nothing and reports the same."""
    report, at, project_id = Report(KINDS), clock.now(), caller.project_id
    normaliser = Normaliser(caller, report)
    workflows = clean_workflows(caller, old.workflows, old.pads, normaliser, at)
    pads = clean_pads(caller, old.pads, workflows, normaliser)
    with nullcontext() if dry_run else write_transaction(project_id):
        new_workflows, existing = choose_workflows(project_id, workflows, report)
        new_pads = choose_pads(project_id, pads, existing, report)
        if report.taken and not dry_run:
            ids = existing | write_workflows(project_id, new_workflows, at)
            write_pads(project_id, new_pads, ids, at)
            if written := {existing[new.workflow] for new in new_pads if new.workflow in existing}:
                touch_workflows(written, at)
            record_import(project_id, "scratchpads", report, at)
    return report
