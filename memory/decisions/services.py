"""Sets, deprecates and deletes decisions. All writes go through here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Literal, NotRequired, Unpack

from django.db.models import Count

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.bin.binning import Deleted, pointers_in_bin, put_batch_in_bin
from ctxhub.core.emptying import delete_objects
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import ROWS_AT_ONCE, do_first, in_batches
from ctxhub.core.kit.caller import READ, Caller, for_readers
from ctxhub.core.kit.errors import Conflict, CtxhubError, NotFound
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_text, merge_object
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.vocabulary.names import find_vocabulary, register_agent
from ctxhub.toolbox.argument_types import About
from ctxhub.toolbox.batch_writes import BatchAnswer, Items, write_batch, write_one
from memory.decisions.history import HISTORY, DecisionChange
from memory.decisions.inputs import (
    DEFAULTS,
    DecisionArguments,
    DecisionFields,
    clean_fields,
    clean_key,
    plain_number,
)
from memory.decisions.models import Decision, DecisionStatus, ValueType
from memory.decisions.rows import DecisionRow, read_decisions, superseding_keys
from memory.decisions.writing import (
    Round,
    check_expected,
    is_converted,
    prepare_decisions,
    store_changes,
    write_decisions,
)
from memory.suggestions.similar_keys import Similar, find_similar
from memory.suggestions.suggest import Inferred, infer

Result = Literal["created", "updated", "unchanged"]


@frozen
class Written:
    """What was to be written, and the change that it made."""

    fields: DecisionFields
    change: DecisionChange


class SetAnswer(TypedDict):
    key: str
    id: int
    version: str
    result: Result
    hint: NotRequired[str]
    similar: NotRequired[Annotated[list[Similar], About("Keys that may mean what this new one does.")]]


class QuickSetAnswer(SetAnswer):
    inferred: Inferred


class DeprecateAnswer(TypedDict):
    key: str
    id: int
    version: str
    status: str
    result: Result
    superseded_by: str | None


class DeleteAnswer(TypedDict):
    key: str
    result: Literal["deleted"]


# -- Services --------------------------------------------------------------------------------------


def set_decision(
    *, caller: Caller, key: str, value: str | int | float, **rest: Unpack[DecisionArguments]
) -> SetAnswer:
    """Create a decision or change it; absent arguments stay unchanged.

    A new value raises the version unless another one is given; every change keeps the old state as a
    revision. For a new key the answer includes `similar`: existing keys that may mean the same.
    Raises Conflict, with the current version and value, if `expected_version` does not match.
    """
    return store_decision(caller, clean_fields(caller, key=key, value=value, **rest))


def store_decision(caller: Caller, fields: DecisionFields) -> SetAnswer:
    """Write the result of `clean_fields`."""
    return _with_similar(caller, _write(caller, partial(prepare_decisions, caller, [fields])))


def change_decision(
    *, caller: Caller, key: str, value: str | int | float | Unset = UNSET, **rest: Unpack[DecisionArguments]
) -> SetAnswer:
    """Change an existing decision; absent arguments, even the value, stay unchanged. Raises NotFound."""
    fields = clean_fields(caller, key=key, value=value, **rest)

    def prepare() -> Round:
        prepared = prepare_decisions(caller, [fields])
        if fields.key not in prepared.stored:
            raise unknown_key(fields.key)
        return prepared

    return _write(caller, prepare)


def replace_decision(
    *, caller: Caller, key: str, value: str | int | float, **rest: Unpack[DecisionArguments]
) -> SetAnswer:
    """Create or replace a decision; absent arguments get their defaults."""
    arguments: DecisionArguments = {**DEFAULTS, **rest}
    fields = clean_fields(caller, key=key, value=value, **arguments)
    fields = replace(fields, tradeoffs=merge_object({}, if_set(fields.tradeoffs, {})))

    def prepare() -> Round:
        old = read_decisions(caller.project_id, [fields.key]).get(fields.key)
        unset = dict.fromkeys(old.metadata) if old else {}
        return prepare_decisions(caller, [replace(fields, metadata={**unset, **(fields.metadata or {})})])

    return _with_similar(caller, _write(caller, prepare))


def set_decision_batch(*, caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Set up to 50 decisions; the number of SQL statements does not depend on how many.

    An item is the arguments of `set_decision`, or the error with which REST or MCP has already refused it.
    `atomic`: all or nothing, and the error names the `index`; otherwise valid items are written, and each
    item has its own result.
    """
    reader = reader_of(caller)
    reader.learn(path for item in items if isinstance(item, Mapping) for path in item.get("paths") or ())
    return write_batch(
        caller,
        items,
        clean=partial(clean_fields, reader=reader),
        prepare=prepare_decisions,
        write=_write_all,
        answer=_answer,
        atomic=atomic,
    )


NOTHING_INFERRED = Inferred(layer=None, tags=[], scope=None)


def quick_set_decision(
    *, caller: Caller, key: str, value: str | int | float, numeric: bool | None | Unset = UNSET
) -> QuickSetAnswer:
    """Set a decision; a new one gets layer, tags and scope inferred from its key."""
    fields = clean_fields(caller, key=key, value=value, numeric=numeric)
    inferred = NOTHING_INFERRED

    def prepare() -> Round:
        nonlocal inferred
        if read_decisions(caller.project_id, [fields.key]):
            inferred = NOTHING_INFERRED
            return prepare_decisions(caller, [fields])
        inferred = _known_layer(caller, infer(fields.key))
        scopes = [inferred["scope"]] if inferred["scope"] else []
        words = replace(fields, layer=inferred["layer"], tags=inferred["tags"], scopes=scopes)
        return prepare_decisions(caller, [words])

    return {**_with_similar(caller, _write(caller, prepare)), "inferred": inferred}


def deprecate_decision(
    *, caller: Caller, key: str, reason: str | None | Unset = UNSET, superseded_by: str | None | Unset = UNSET
) -> DeprecateAnswer:
    """Deprecate a decision, with an optional reason and successor.

    Raises NotFound if either key is unknown, Conflict if the decision would supersede itself.
    """
    key = clean_key(key)
    reason = reason if isinstance(reason, Unset) else clean_text(reason, "reason", caller)
    successor_key = clean_key(superseded_by) if superseded_by else None
    with write_transaction(caller.project_id):
        at = clock.now()
        old = read_decisions(caller.project_id, [key]).get(key)
        if old is None:
            raise unknown_key(key)
        successor = _successor(caller, key, successor_key) if successor_key else None
        new = replace(old, status=DecisionStatus.DEPRECATED, reason=if_set(reason, old.reason))
        if superseded_by is not UNSET:
            new = replace(
                new, superseded_by=successor_key, superseded_by_id=successor.pk if successor else None
            )
        change = HISTORY.change(old, new)
        if change.changed:
            change = HISTORY.change(old, replace(new, agent=caller.agent, updated_at=at))
            store_changes(caller, [change], find_vocabulary(caller.project_id, agent=caller.agent), at, [at])
    result: Result = "updated" if change.changed else "unchanged"
    return DeprecateAnswer(
        key=key,
        id=old.id,
        version=old.version,
        status="deprecated",
        result=result,
        superseded_by=new.superseded_by,
    )


def delete_decision(*, caller: Caller, key: str, expected_version: str | Unset = UNSET) -> DeleteAnswer:
    """Delete a decision with its history, for example one that holds a secret. The event log stays.

    What it supersedes stays, without a successor; of many, in batches before: a call that was cut off can be
    repeated. Raises Conflict if `expected_version` does not match.
    """
    return in_batches(partial(_delete, caller, clean_key(key), expected_version))


def _delete(caller: Caller, key: str, expected_version: str | Unset) -> DeleteAnswer:
    with write_transaction(caller.project_id):
        old = read_decisions(caller.project_id, [key]).get(key)
        if old is None:
            raise unknown_key(key)
        check_expected(key, expected_version, old)
        delete_decisions(caller, [old])
    return {"key": key, "result": "deleted"}


def find_deletable_decisions(caller: Caller, keys: Sequence[str]) -> Mapping[str, DecisionRow | NotFound]:
    """The decision of each key, or the error for an unknown one."""
    found = read_decisions(caller.project_id, keys)
    return {key: found.get(key) or unknown_key(key) for key in keys}


def delete_decisions(caller: Caller, rows: Sequence[DecisionRow]) -> None:
    """Delete decisions that were read in the open transaction, which `in_batches` surrounds."""
    for successor_id in _successors_of_many(caller, rows):
        successor = next(row for row in rows if row.id == successor_id)
        do_first(f"decision:{successor_id}", partial(_part_from_successor, caller, successor))
    delete_objects(caller, rows, history=HISTORY)


def _successors_of_many(caller: Caller, rows: Sequence[DecisionRow]) -> Sequence[int]:
    """The decisions that supersede more than a batch, which is parted from them before the transaction."""
    superseded = Decision.objects.in_project(caller.project_id).filter(
        superseded_by_id__in=[row.id for row in rows]
    )
    counts = superseded.order_by().values_list("superseded_by_id").annotate(count=Count("pk"))
    return [successor_id for successor_id, count in counts if successor_id and count > ROWS_AT_ONCE]


def _part_from_successor(caller: Caller, successor: DecisionRow) -> Mapping[str, int]:
    with write_transaction(caller.project_id):
        ids = _superseded(caller, successor.id)
        if not ids:
            return {}
        at = clock.now()
        agent_id = register_agent(caller, at)
        put_batch_in_bin(
            project_id=caller.project_id,
            kind=HISTORY.kind,
            container=Deleted(successor, HISTORY.ref(successor)),
            contents=pointers_in_bin(Decision, "superseded_by_id", ids, successor.id),
            agent_id=agent_id,
            at=at,
        )
        changes = HISTORY.part_from_successor(caller.project_id, agent_id, ids, at)
        HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=changes, at=at)
    return {"decisions": len(changes)}


def _superseded(caller: Caller, successor_id: int) -> Sequence[int]:
    """A batch of the ids of what a decision supersedes; none if there is no more than that."""
    superseded = Decision.objects.in_project(caller.project_id).filter(superseded_by_id=successor_id)
    ids = list(superseded.order_by("pk").values_list("pk", flat=True)[: ROWS_AT_ONCE + 1])
    return ids[:ROWS_AT_ONCE] if len(ids) > ROWS_AT_ONCE else []


def unknown_key(key: str, similar: Sequence[str] = ()) -> NotFound:
    message = f"There is no decision {key!r}."
    hint = f"{operation('decision list')} shows the keys there are."
    return for_readers(NotFound(message, hint=hint, similar=list(similar)), otherwise=message)


# -- Helpers ---------------------------------------------------------------------------------------


def _successor(caller: Caller, key: str, successor_key: str) -> Decision:
    """Return the successor. Raises NotFound, or Conflict if its chain of successors leads back to `key`."""
    if successor_key == key:
        raise Conflict(f"{key!r} cannot supersede itself.", hint="Name another key, or leave it out.")
    successor = Decision.objects.in_project(caller.project).filter(key=successor_key).first()
    if successor is None:
        raise unknown_key(successor_key)
    # One statement reads the whole chain. UNION drops duplicates, so an existing cycle ends it, too.
    chain = superseding_keys(successor.pk)
    if key in chain:
        raise Conflict(
            f"{successor_key!r} is itself superseded by {key!r}, directly or through others.",
            hint="Break it first.",
        )
    return successor


def _known_layer(caller: Caller, inferred: Inferred) -> Inferred:
    layers = find_vocabulary(caller.project_id, layers=True).layers
    return inferred if inferred["layer"] in layers else {**inferred, "layer": None}


def _write(caller: Caller, prepare: Callable[[], Round]) -> SetAnswer:
    return _answer(write_one(caller, prepare, _write_all))


def _write_all(caller: Caller, prepared: Round) -> list[Written | CtxhubError]:
    outcomes = zip(prepared.items, write_decisions(caller, prepared), strict=True)
    return [o if isinstance(o, CtxhubError) else Written(fields, o) for fields, o in outcomes]


def _with_similar(caller: Caller, answer: SetAnswer) -> SetAnswer:
    """Add `similar` for a new key if the caller may read. Runs after the write lock is released."""
    if answer["result"] != "created" or not caller.may(READ):
        return answer
    similar = find_similar(caller.project_id, answer["key"])
    return {**answer, "similar": similar} if similar else answer


def _result_of(change: DecisionChange) -> Result:
    return "created" if change.old is None else "updated" if change.changed else "unchanged"


def _answer(written: Written) -> SetAnswer:
    row = written.change.row
    answer = SetAnswer(key=row.key, id=row.id, version=row.version, result=_result_of(written.change))
    if hints := list(filter(None, (_hint_of_status(written.change), _hint_of_number(written)))):
        answer["hint"] = " ".join(hints)
    return answer


def _hint_of_status(change: DecisionChange) -> str:
    row = change.row
    if not change.old or not row.status == DecisionStatus.DEPRECATED == change.old.status:
        return ""
    successor = f", superseded by {row.superseded_by!r}" if row.superseded_by else ""
    return f"This decision is deprecated{successor}; status active revives it."


def _hint_of_number(written: Written) -> str:
    """Whether a text became a number, or might have been meant as one."""
    fields, row = written.fields, written.change.row
    if is_converted(fields, row):
        return f"The text was stored as the number {row.value}; numeric:false stores it as a text."
    is_new_text = written.change.old is None and row.value_type == ValueType.TEXT
    if is_new_text and fields.numeric is not False and plain_number(row.value) is not None:
        return "The value was stored as a text; numeric:true stores it as a number."
    return ""
