"""Records file changes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_choice, clean_name, clean_text, refuse_secret
from ctxhub.core.paths.reading import PathReader, reader_of
from ctxhub.core.vocabulary.names import Vocabulary, find_vocabulary, register_words
from ctxhub.toolbox.batch_writes import BatchAnswer, Items, write_batch, write_one
from tracking.changes.history import HISTORY, count_gone, new_changes
from tracking.changes.rows import CHANGES, ChangeRow, count_before, delete_changes
from tracking.files.paths import clean_file
from tracking.files.rows import find_resources, make_resources
from tracking.models import ChangeKind


class RecordAnswer(TypedDict):
    id: int
    path: str


@frozen
class Fields:
    """Validated fields of a change."""

    path: str
    change: ChangeKind
    layer: str | None
    description: str


# -- Services --------------------------------------------------------------------------------------


def record_change(
    *,
    caller: Caller,
    path: str,
    change: str | int,
    layer: str | None = None,
    description: str | None = None,
) -> RecordAnswer:
    """Record that the caller's agent created, modified or deleted a file now."""
    fields = _clean(
        caller, reader=reader_of(caller), path=path, change=change, layer=layer, description=description
    )
    return write_one(caller, partial(_prepare, caller, [fields]), _write)


def record_change_batch(*, caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Record up to 50 changes in a number of statements that does not grow with them.

    An item is the arguments of `record_change`, or the error with which REST or MCP has refused it already.
    `atomic`: all or nothing, the error names the `index`; otherwise valid items are recorded, and each
    result is an answer or an error.
    """
    reader = reader_of(caller)
    reader.learn(item["path"] for item in items if isinstance(item, Mapping))
    clean = partial(_clean, reader=reader)
    return write_batch(
        caller, items, clean=clean, prepare=_prepare, write=_write, answer=_as_mapping, atomic=atomic
    )


def count_changes(project_id: int, before: datetime, *, sparing: bool) -> int:
    return count_before(project_id, before)


def remove_changes(project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int:
    """Remove the oldest changes before a time, with their counts; the files stay. Returns how many."""
    removed = delete_changes(project_id, before, at_most)
    count_gone(project_id, removed)
    return len(removed)


# -- Pieces ----------------------------------------------------------------------------------------


def _clean(
    caller: Caller,
    *,
    reader: PathReader,
    path: str,
    change: str | int,
    layer: str | None = None,
    description: str | None = None,
) -> Fields:
    file = clean_file(path, reader=reader)
    refuse_secret(file, "path", caller)
    return Fields(
        path=file,
        change=clean_choice(change, ChangeKind, "change"),
        layer=clean_name(layer, "layer", at_most=WORD_LENGTH) if layer else None,
        description=clean_text(description, "description", caller),
    )


@frozen
class Draft:
    """The items, the layer of each, or why it has none, and what they meet."""

    items: Sequence[Fields]
    layer_ids: Sequence[int | None | CtxhubError]
    vocabulary: Vocabulary
    files: Mapping[str, int]


def _prepare(caller: Caller, items: Sequence[Fields]) -> Draft:
    vocabulary = find_vocabulary(
        caller.project_id, agent=caller.agent, layers=any(item.layer for item in items)
    )
    layer_ids = [_layer_id(vocabulary, item) for item in items]
    return Draft(
        items, layer_ids, vocabulary, find_resources(caller.project_id, [item.path for item in items])
    )


def _write(caller: Caller, draft: Draft) -> list[RecordAnswer | CtxhubError]:
    """Write the items. Their times differ by a microsecond, so that reading on from one yields the next."""
    valid = [
        (item, layer)
        for item, layer in zip(draft.items, draft.layer_ids, strict=True)
        if not isinstance(layer, CtxhubError)
    ]
    answers = iter(_store(caller, valid, draft, clock.now()) if valid else ())
    return [layer if isinstance(layer, CtxhubError) else next(answers) for layer in draft.layer_ids]


def _layer_id(vocabulary: Vocabulary, item: Fields) -> int | None | CtxhubError:
    try:
        return vocabulary.layer(item.layer)[0] if item.layer else None
    except CtxhubError as error:
        return error


def _store(
    caller: Caller, items: Sequence[tuple[Fields, int | None]], draft: Draft, at: datetime
) -> list[RecordAnswer]:
    vocabulary = draft.vocabulary
    register_words(vocabulary, caller=caller, at=at)
    missing = list(dict.fromkeys(item.path for item, _ in items if item.path not in draft.files))
    new_files = make_resources(caller.project_id, missing, at) if missing else {}
    files = {**draft.files, **new_files}
    moments = [at + timedelta(microseconds=n) for n in range(len(items))]
    new = [
        ChangeRow(
            resource=item.path,
            resource_id=files[item.path],
            agent=caller.agent,
            agent_id=vocabulary.agent_id,
            change=item.change,
            layer=item.layer,
            layer_id=layer_id,
            description=item.description,
            at=moment,
        )
        for (item, layer_id), moment in zip(items, moments, strict=True)
    ]
    rows = CHANGES.insert(caller.project_id, new)
    changes = new_changes(rows, new_files, at)
    HISTORY.record(project_id=caller.project_id, agent_id=vocabulary.agent_id, changes=changes, at=at)
    return [{"id": row.id, "path": row.path} for row in rows]


def _as_mapping(answer: RecordAnswer) -> Mapping[str, Any]:
    return {**answer}
