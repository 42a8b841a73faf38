"""One import of Free Context: checked before the lock, chosen and written within it, all or nothing."""

from contextlib import nullcontext

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.importers.free_context.contexts import (
    choose_contexts,
    clean_contexts,
    general_context,
    keep_times,
    note_contexts,
    write_contexts,
)
from ctxhub.importers.free_context.memories import (
    choose_memories,
    clean_memories,
    note_memories,
    write_memories,
)
from ctxhub.importers.free_context.reader import OldKnowledge
from ctxhub.importers.free_context.relationships import (
    choose_relationships,
    clean_relationships,
    write_relationships,
)
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report, record_import
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted

KINDS = ("contexts", "memories", "relationships", "tags")


def import_knowledge(*, caller: Caller, old: OldKnowledge, dry_run: bool = False) -> Report:
    """Take what the project does not have yet; a dry run writes nothing and reports the same."""
    report, at, project_id = Report(KINDS), clock.now(), caller.project_id
    fit = Fitting(caller, report)
    contexts = clean_contexts(caller, old.contexts, fit, at)
    memories = clean_memories(caller, old.memories, contexts, fit, at)
    relationships = clean_relationships(old.relationships, memories, fit, at)
    wanted = Wanted()
    with nullcontext() if dry_run else write_transaction(project_id):
        new_memories, here = choose_memories(project_id, memories, report)
        is_homeless = any(not new.context for new in new_memories)
        homes = [*contexts.values(), *([general_context(at)] if is_homeless else [])]
        chosen = choose_contexts(project_id, homes, report)
        edges = choose_relationships(project_id, relationships, here, report)
        note_contexts(chosen, wanted)
        note_memories(new_memories, wanted)
        vocabulary = Vocabulary(caller, report)
        vocabulary.add(wanted, at, dry_run=dry_run)
        if report.taken and not dry_run:
            homes_here = write_contexts(project_id, chosen, vocabulary, at)
            ids = here | write_memories(project_id, new_memories, homes_here, vocabulary, at)
            keep_times(chosen, homes_here)
            write_relationships(project_id, edges, ids, at)
            record_import(project_id, "free_context", report, at)
    return report
