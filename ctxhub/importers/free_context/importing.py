"""Runs one Free Context import: validates before the write lock, selects and writes in one transaction."""

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
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report, record_import
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted

KINDS = ("contexts", "memories", "relationships", "tags")


def import_knowledge(*, caller: Caller, old: OldKnowledge, dry_run: bool = False) -> Report:
    """Import what the project does not have yet. A dry run writes nothing and reports the same."""
    report, at, project_id = Report(KINDS), clock.now(), caller.project_id
    normaliser = Normaliser(caller, report)
    contexts = clean_contexts(caller, old.contexts, normaliser, at)
    memories = clean_memories(caller, old.memories, contexts, normaliser, at)
    relationships = clean_relationships(old.relationships, memories, normaliser, at)
    wanted = Wanted()
    with nullcontext() if dry_run else write_transaction(project_id):
        new_memories, existing = choose_memories(project_id, memories, report)
        needs_general = any(not new.context for new in new_memories)
        contexts_to_choose = [*contexts.values(), *([general_context(at)] if needs_general else [])]
        chosen = choose_contexts(project_id, contexts_to_choose, report)
        edges = choose_relationships(project_id, relationships, existing, report)
        note_contexts(chosen, wanted)
        note_memories(new_memories, wanted)
        vocabulary = Vocabulary(caller, report)
        vocabulary.add(wanted, at, dry_run=dry_run)
        if report.taken and not dry_run:
            context_ids = write_contexts(project_id, chosen, vocabulary, at)
            ids = existing | write_memories(project_id, new_memories, context_ids, vocabulary, at)
            keep_times(chosen, context_ids)
            write_relationships(project_id, edges, ids, at)
            record_import(project_id, "free_context", report, at)
    return report
