"""Changes of files are recorded here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_choice, clean_name, clean_text, refuse_secret
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.toolbox.batch_writes import BatchAnswer, Items, write_batch
from ctxhub.core.vocabulary.selectors.names import Vocabulary, find_vocabulary
from ctxhub.core.vocabulary.services.names import register_words
from tracking.history.changes import count_gone, record_changes
from tracking.models import ChangeKind
from tracking.selectors.paths import clean_file
from tracking.sql.changes import NewChange, Recorded, delete_changes, insert_changes
from tracking.sql.resources import find_resources, make_resources


class RecordAnswer(TypedDict):
    id: int
    path: str


@dataclass(frozen=True, slots=True)
class Fields:
    """Clean fields of a change; `layer_id` once the layer is found."""

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
    """Note that a file was created, modified or deleted by the caller's agent, now."""
    fields = _clean(caller, path=path, change=change, layer=layer, description=description)
    with write_transaction(caller.project_id):
        [outcome] = _write(caller, [fields])
    if isinstance(outcome, CtxhubError):
        raise outcome
    return outcome


def record_change_batch(*, caller: Caller, items: Items, atomic: bool = True) -> BatchAnswer:
    """Record up to 50 changes in a number of statements that does not grow with them.

    An item is the arguments of `record_change`, or the error with which a face has refused it already.
    `atomic`: all or nothing, the error naming the `index`; otherwise what can be done is done, and each
    result says how it went.
    """
    return write_batch(caller, items, clean=_clean, write=_write, answer=_as_it_is, atomic=atomic)


def remove_changes(project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int:
    """Remove the oldest changes from before a moment, and their figures; the files stay."""
    gone = delete_changes(project_id, before, at_most)
    count_gone(project_id, gone)
    return len(gone)


# -- Pieces ----------------------------------------------------------------------------------------


def _clean(
    caller: Caller,
    *,
    path: str,
    change: str | int,
    layer: str | None = None,
    description: str | None = None,
) -> Fields:
    file = clean_file(path)
    refuse_secret(file, "path", caller)
    return Fields(
        path=file,
        change=clean_choice(change, ChangeKind, "change"),
        layer=clean_name(layer, "layer", at_most=WORD_LENGTH) if layer else None,
        description=clean_text(description, "description", caller),
    )


def _write(caller: Caller, items: Sequence[Fields]) -> list[RecordAnswer | CtxhubError]:
    """Write the items, each a microsecond after the other: who reads on from one's event gets the next."""
    at = clock.now()
    words = find_vocabulary(caller.project_id, agent=caller.agent, layers=any(item.layer for item in items))
    placed = [_layer_id(words, item) for item in items]
    good = [
        (item, layer) for item, layer in zip(items, placed, strict=True) if not isinstance(layer, CtxhubError)
    ]
    answers = iter(_store(caller, good, words, at) if good else ())
    return [layer if isinstance(layer, CtxhubError) else next(answers) for layer in placed]


def _layer_id(words: Vocabulary, item: Fields) -> int | None | CtxhubError:
    try:
        return words.layer(item.layer)[0] if item.layer else None
    except CtxhubError as error:
        return error


def _store(
    caller: Caller, items: Sequence[tuple[Fields, int | None]], words: Vocabulary, at: datetime
) -> list[RecordAnswer]:
    register_words(words, caller=caller, at=at)
    paths = list(dict.fromkeys(item.path for item, _ in items))
    files = find_resources(caller.project_id, paths)
    missing = [path for path in paths if path not in files]
    made = make_resources(caller.project_id, missing, at) if missing else {}
    files |= made
    moments = [at + timedelta(microseconds=n) for n in range(len(items))]
    new = [
        NewChange(files[item.path], item.change, layer_id, item.description, moment)
        for (item, layer_id), moment in zip(items, moments, strict=True)
    ]
    ids = insert_changes(caller.project_id, words.agent_id, new)
    record_changes(
        project_id=caller.project_id,
        agent_id=words.agent_id,
        changes=[
            Recorded(row_id, item.path, item.change.label, words.agent_id, layer_id, item.description, moment)
            for row_id, (item, layer_id), moment in zip(ids, items, moments, strict=True)
        ],
        at=at,
        new_files=made,
    )
    return [{"id": row_id, "path": item.path} for row_id, (item, _) in zip(ids, items, strict=True)]


def _as_it_is(answer: RecordAnswer) -> Mapping[str, Any]:
    return {**answer}
