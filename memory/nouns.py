"""Registers the nouns of the memory app with the hub, and what of it runs in every cleanup."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ctxhub.core import transfer
from ctxhub.core.bin.declaration import Cleared, Joined, cleared, joined
from ctxhub.core.emptying import delete_objects
from ctxhub.core.events.cleanup import cleanup_tasks
from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.batches import BYTES_PER_TOKEN
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.links import heads_of
from ctxhub.core.registry import Deletion, Kept, Noun, register
from memory.constraints.history import HISTORY as CONSTRAINT_HISTORY
from memory.constraints.queries import open_constraints
from memory.contexts.history import HISTORY as CONTEXT_HISTORY
from memory.contexts.queries import ids_of_contexts, open_contexts
from memory.contexts.services import (
    delete_contexts,
    find_deletable_contexts,
    memories_along,
    sizes_of_contexts,
)
from memory.decisions.history import HISTORY as DECISION_HISTORY
from memory.decisions.history import earlier_decision_documents
from memory.decisions.queries import ids_of_keys, open_decisions
from memory.decisions.services import delete_decisions, find_deletable_decisions
from memory.decisions.versions import LINKS as SUCCESSORS
from memory.decisions.versions import WHY as DECISION_WHY
from memory.decisions.versions import revision_ids, values_at
from memory.memories.history import HISTORY as MEMORY_HISTORY
from memory.memories.history import REVISIONS as MEMORY_REVISIONS
from memory.memories.history import earlier_memory_documents, revisions_showing
from memory.memories.queries import open_memories, turns_of
from memory.memories.revisions import replaced_ids as replaced_memories
from memory.memories.revisions import texts_at
from memory.memories.rows import MemoryRow
from memory.memories.services import find_deletable_memories
from memory.models import (
    Constraint,
    ConstraintStatus,
    Context,
    Decision,
    DecisionRevision,
    DecisionStatus,
    DecisionTemplate,
    Memory,
    MemoryRevision,
    Relationship,
    Scratchpad,
    ScratchpadRevision,
    Snapshot,
    Workflow,
)
from memory.relationships.cause_links import LINKS as RELATIONSHIP_LINKS
from memory.relationships.queries import open_relationships
from memory.relationships.services import link_cause
from memory.retention import clean_snapshots
from memory.scratchpads.history import HISTORY as SCRATCHPAD_HISTORY
from memory.scratchpads.history import earlier_scratchpad_documents
from memory.scratchpads.queries import contents_at, open_scratchpads
from memory.scratchpads.revisions import replaced_ids
from memory.scratchpads.services import find_deletable_scratchpads
from memory.snapshots.causes import LINKS as SNAPSHOT_LINKS
from memory.snapshots.causes import read_heads as read_snapshot_heads
from memory.snapshots.history import HISTORY as SNAPSHOT_HISTORY
from memory.snapshots.queries import open_snapshots
from memory.snapshots.reads import note_opened
from memory.snapshots.rows import SnapshotRow
from memory.snapshots.services import dependents_left, find_deletable_snapshots
from memory.templates.history import HISTORY as TEMPLATE_HISTORY
from memory.templates.queries import open_templates
from memory.workflows.history import HISTORY as WORKFLOW_HISTORY
from memory.workflows.queries import open_workflows
from memory.workflows.services import (
    clean_workflows,
    delete_workflows,
    find_deletable_workflows,
    pads_along,
    sizes_of_workflows,
)


def count_decisions(stats: Stats) -> list[int]:
    return [stats.of("decision", status=DecisionStatus.ACTIVE), stats.of("decision")]


def active_by_layer(stats: Stats) -> Mapping[int, int]:
    return stats.by_layer("decision", status=DecisionStatus.ACTIVE)


def count_constraints(stats: Stats) -> list[int]:
    return [stats.of("constraint", status=ConstraintStatus.ACTIVE), stats.of("constraint")]


def constraints_by_layer(stats: Stats) -> Mapping[int, int]:
    return stats.by_layer("constraint", status=ConstraintStatus.ACTIVE)


def sizes_of_texts(rows: Sequence[MemoryRow | SnapshotRow]) -> Mapping[int, int]:
    return {row.id: row.tokens * BYTES_PER_TOKEN for row in rows}


def memory_version(item: Mapping[str, Any]) -> str:
    """The revision of a memory; "" of a digest, which does not show it."""
    return str(item.get("revision", ""))


transfer.modules.append("memory.exports")
register(
    Noun(
        "decision",
        "decisions",
        Decision,
        count=count_decisions,
        open=open_decisions,
        text="value",
        by_layer=active_by_layer,
        history=DECISION_HISTORY,
        prior=1.05,
        has_reasons=True,
        is_kept=True,
        ids_of=ids_of_keys,
        version_of=lambda item: str(item["version"]),
        texts_at=values_at,
        heads=heads_of(
            "decision", Decision, "value", ref="key", at="updated_at", made="created_at", why=DECISION_WHY
        ),
        links=SUCCESSORS,
        deletion=Deletion(find_deletable_decisions, delete_decisions, scope=ADMIN),
    )
)
register(
    Noun(
        "decision_revision",
        "earlier decisions",
        DecisionRevision,
        documents=earlier_decision_documents,
        earlier_states_of="decision",
        states_of=revision_ids,
    )
)
register(
    Noun(
        "constraint",
        "constraints",
        Constraint,
        count=count_constraints,
        open=open_constraints,
        text="text",
        by_layer=constraints_by_layer,
        history=CONSTRAINT_HISTORY,
        prior=1.05,
        has_reasons=True,
        is_kept=True,
        heads=heads_of("constraint", Constraint, "text", at="created_at", why="d.reason"),
        deletion=Kept("ends it", call=("constraint", "deactivate")),
    )
)
register(
    Noun(
        "workflow",
        "workflows",
        Workflow,
        open=open_workflows,
        history=WORKFLOW_HISTORY,
        prior=0.7,
        is_kept=True,
        heads=heads_of("workflow", Workflow, "name", at="updated_at", made="created_at"),
        deletion=Deletion(
            find_deletable_workflows,
            delete_workflows,
            along=pads_along,
            contents="scratchpad",
            sizes=sizes_of_workflows,
        ),
    )
)
register(
    Noun(
        "scratchpad",
        "scratchpads",
        Scratchpad,
        open=open_scratchpads,
        text="content",
        history=SCRATCHPAD_HISTORY,
        version_of=lambda item: str(item.get("revision", "")),
        texts_at=contents_at,
        heads=heads_of("scratchpad", Scratchpad, "name", at="updated_at", made="created_at"),
        deletion=Deletion(
            find_deletable_scratchpads,
            partial(delete_objects, history=SCRATCHPAD_HISTORY),
            sizes=lambda pads: {pad.id: pad.size for pad in pads},
        ),
    )
)
register(
    Noun(
        "scratchpad_revision",
        "earlier scratchpads",
        ScratchpadRevision,
        documents=earlier_scratchpad_documents,
        earlier_states_of="scratchpad",
        states_of=replaced_ids,
    )
)
register(
    Noun(
        "template",
        "templates",
        DecisionTemplate,
        open=open_templates,
        history=TEMPLATE_HISTORY,
        is_named=True,
        deletion=Kept("an administrator deletes it over REST (DELETE templates/NAME/) or in the admin"),
    )
)
register(
    Noun(
        "context",
        "contexts",
        Context,
        open=open_contexts,
        text="description",
        history=CONTEXT_HISTORY,
        prior=0.7,
        is_kept=True,
        ids_of=ids_of_contexts,
        heads=heads_of("context", Context, "name", also="name", at="updated_at", made="created_at"),
        deletion=Deletion(
            find_deletable_contexts,
            delete_contexts,
            along=memories_along,
            contents="memory",
            sizes=sizes_of_contexts,
        ),
    )
)
register(
    Noun(
        "memory",
        "memories",
        Memory,
        open=open_memories,
        text="content",
        history=MEMORY_HISTORY,
        version_of=memory_version,
        turns=turns_of,
        texts_at=texts_at,
        heads=heads_of("memory", Memory, "title", at="updated_at", made="created_at"),
        deletion=Deletion(
            find_deletable_memories, partial(delete_objects, history=MEMORY_HISTORY), sizes=sizes_of_texts
        ),
    )
)
register(
    Noun(
        MEMORY_REVISIONS,
        "earlier memories",
        MemoryRevision,
        documents=earlier_memory_documents,
        showing=revisions_showing,
        earlier_states_of="memory",
        states_of=replaced_memories,
    )
)
register(
    Noun(
        "relationship",
        "relationships",
        Relationship,
        open=open_relationships,
        links=replace(RELATIONSHIP_LINKS, write_cause=link_cause),
        deletion=Kept("removes it", call=("memory", "unrelate")),
    )
)
register(
    Noun(
        "snapshot",
        "snapshots",
        Snapshot,
        open=open_snapshots,
        text="content",
        history=SNAPSHOT_HISTORY,
        has_reasons=True,
        on_open=note_opened,
        heads=read_snapshot_heads,
        links=SNAPSHOT_LINKS,
        deletion=Deletion(
            find_deletable_snapshots,
            partial(delete_objects, history=SNAPSHOT_HISTORY),
            scope=ADMIN,
            along=dependents_left,
            sizes=sizes_of_texts,
        ),
    )
)
hold_names(Decision, "key", found_by="key")
hold_names(DecisionTemplate, found_by="folded", kind="template")
hold_names(Context, found_by="folded")
hold_names(Memory, "stack", found_by="folded_stack")
hold_names(Workflow)
hold_names(Scratchpad)
joined.append(Joined(Relationship, (("source_kind", "source_id"), ("target_kind", "target_id"))))
cleared.append(Cleared(Snapshot, "session_id", "session"))
cleanup_tasks += [
    lambda project_id, now, config: clean_workflows(project_id, now, config.scratchpad_days),
    lambda project_id, now, config: clean_snapshots(project_id, now, auto_prune=config.auto_prune),
]
