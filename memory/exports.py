"""What the nouns of memory are in an export."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Shifts, Values, folded_name, register
from ctxhub.core.transfer.links import shifted
from memory.constraints.models import Constraint, digest_of, rank_of
from memory.contexts.models import Context
from memory.contexts.rows import count_again
from memory.decisions.models import Decision, DecisionRevision, ValueType, typed_value, version_order
from memory.memories.models import Memory, MemoryRevision
from memory.memories.rows import digest_of as digest_of_memory
from memory.memories.rows import tokens_of
from memory.relationships.models import Relationship
from memory.scratchpads.models import Scratchpad, ScratchpadRevision
from memory.snapshots.models import Snapshot
from memory.suggestions.keys import whole_signature
from memory.templates.models import DecisionTemplate
from memory.workflows.models import Workflow
from memory.workflows.rows import is_kept


def _number(values: Values) -> Values:
    """The number that a value is. Raises InvalidInput if it is none of its type."""
    text, value_type = values["value"], values["value_type"]
    if value_type == ValueType.TEXT:
        return {"number": None}
    try:
        number = float(typed_value(text, value_type))
    except (ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise InvalidInput(f"value: {shown(text)} is no {ValueType(value_type).label}.")
    return {"number": number}


def _derive_decision(values: Values) -> Values:
    return {
        **_number(values),
        "version_order": version_order(values["version"]),
        "signature": whole_signature(values["key"]),
    }


register(
    Exported(
        Decision,
        derived=("number", "version_order", "signature"),
        derive=_derive_decision,
        linked=("value", "rationale", "reason", "alternatives", "tradeoffs"),
        cleaners={
            "paths": cleaners.globs,
            "alternatives": cleaners.entries,
            "tradeoffs": cleaners.object_,
            "metadata": cleaners.object_,
        },
        kind="decision",
        natural=("key",),
        has_ids=False,
        parts=(
            Part(
                DecisionRevision,
                derived=("number",),
                derive=_number,
                cleaners={"data": cleaners.object_},
                name="revisions",
                owner="decision_id",
            ),
        ),
    ),
    Exported(
        DecisionTemplate,
        cleaners={
            "defaults": cleaners.object_,
            "require": cleaners.texts,
            "patterns": cleaners.object_,
        },
        kind="template",
        natural=("folded",),
        has_ids=False,
    ),
)


def _derive_constraint(values: Values) -> Values:
    return {
        "digest": digest_of(values["text"]),
        "rank": rank_of(values["priority"], values["category"]),
    }


register(
    Exported(
        Constraint,
        derived=("digest", "rank"),
        derive=_derive_constraint,
        linked=("text", "reason"),
        cleaners={"paths": cleaners.globs},
        kind="constraint",
        natural=("category_id", "digest"),
    )
)


def _kept(values: Values) -> Values:
    return {"is_kept": is_kept(values["metadata"])}


def _sizes(values: Values) -> Values:
    text = values["content"]
    return {"length": len(text), "size": len(text.encode())}


def _shift_lengths(data: dict[str, Any], shifts: Shifts) -> None:
    """The states that are the beginnings of the content are as long as these are after its links changed."""
    length = len(data["content"])
    for state in reversed(data["revisions"]):
        if state["content"] is not None:
            break
        state["length"] = min(length, shifted(state["length"], [*shifts.get("content", ())]))


def _check_lengths(data: dict[str, Any], shifts: Shifts) -> None:
    """Raise InvalidInput for a state that is longer than the text that holds it."""
    _shift_lengths(data, shifts)
    text = len(data["content"])
    for state in reversed(data["revisions"]):
        text = len(state["content"]) if state["content"] is not None else text
        if state["length"] > text:
            raise InvalidInput(f"revisions: state {state['number']} is longer than the text that follows it.")


register(
    Exported(
        Workflow,
        derived=("is_kept",),
        derive=_kept,
        cleaners={"metadata": cleaners.object_},
        kind="workflow",
        loose=("updated_at",),
    ),
    Exported(
        Scratchpad,
        derived=("length", "size"),
        derive=_sizes,
        linked=("content",),
        kind="scratchpad",
        parts=(Part(ScratchpadRevision, name="revisions", owner="scratchpad_id", order=("number",)),),
        export=_shift_lengths,
        import_=_check_lengths,
    ),
)


def _context_derived(values: Values) -> Values:
    return {**folded_name(values), "memory_count": 0}


def _count_memories(project_id: int, ids: Sequence[int]) -> None:
    for context_id in ids:
        count_again(context_id)


def _memory_derived(values: Values) -> Values:
    title, content = values["title"], values["content"]
    return {
        "digest": digest_of_memory(title, content),
        "tokens": tokens_of(title, content),
        "folded_stack": values["stack"].casefold(),
    }


register(
    Exported(
        Context,
        derived=("folded", "memory_count"),
        derive=_context_derived,
        linked=("description",),
        cleaners={"metadata": cleaners.object_},
        kind="context",
        natural=("folded",),
        loose=("updated_at",),
        finish=_count_memories,
    ),
    Exported(
        Memory,
        derived=("digest", "tokens", "folded_stack"),
        derive=_memory_derived,
        linked=("content",),
        cleaners={"paths": cleaners.globs, "metadata": cleaners.object_},
        kind="memory",
        parts=(Part(MemoryRevision, name="revisions", owner="memory_id", order=("number",)),),
    ),
    Exported(
        Relationship,
        points={"source": ("source_kind", "source_id"), "target": ("target_kind", "target_id")},
        kind="relationship",
        natural=("source_kind", "source_id", "target_kind", "target_id", "relation"),
    ),
)


def _derive_snapshot(values: Values) -> Values:
    return {
        "tokens": count_tokens(values["content"]),
        "touched_at": values["last_accessed"] or values["created_at"],
    }


register(
    Exported(
        Snapshot,
        derived=("tokens", "touched_at"),
        derive=_derive_snapshot,
        ids={"session_id": "session"},
        cleaners={"metadata": cleaners.object_, "reasons": cleaners.entries},
        kind="snapshot",
        loose=(
            *("tier", "access_count", "last_accessed", "last_accessed_by", "prediction_score", "temporal"),
            *("causal", "frequency", "reasons", "predicted_next", "predicted_at"),
        ),
    )
)
