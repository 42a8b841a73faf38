"""Validates the input of snapshot operations. Runs before the write lock."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    LIST_LENGTH,
    clean_choice,
    clean_masked_text,
    clean_name,
    clean_object,
    clean_one_of,
    clean_text,
    clean_words,
    read_id,
    refuse_secret,
)
from ctxhub.core.kit.limits import MOST_ENTRIES, OPTIONAL_WORD, REF
from ctxhub.core.kit.metadata import changed_metadata
from ctxhub.core.text.graphemes import breaks
from ctxhub.core.text.sentences import LOOKED_AT, in_one_line, paragraphs, sentence_at, shortened
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.argument_types import About, AsIds, IdOf, Number, Object, Ref, Says, Word, Words
from memory.snapshots.models import SOURCE_LENGTH, ActionType

SUMMARY_CHARACTERS = 200


def summary_of(content: str) -> str:
    """The first sentences outside code that have at most 200 characters; a longer one is cut at a word."""
    content, summary = content.strip(), ""
    for line in [*paragraphs(content)] or [in_one_line(content[:LOOKED_AT])]:
        start = 0
        while start < len(line):
            sentence = sentence_at(line, start, SUMMARY_CHARACTERS + 1)
            longer = f"{summary} {sentence.strip()}".strip()
            if len(longer) > SUMMARY_CHARACTERS:
                return summary or _cut(longer)
            summary, start = longer, start + len(sentence)
    return summary


def _cut(line: str) -> str:
    """A line cut between words, with an ellipsis."""
    ends = breaks(line, 0, SUMMARY_CHARACTERS)
    return shortened(line, ends[-1] if ends else SUMMARY_CHARACTERS - 1)


VIEWS = ("historian", "prophet", "archaeologist", "minimalist", "auditor")
Id = Annotated[Number, IdOf("snapshot")]
ActionWord = Annotated[Word, Says("conversation|decision|file_edit|tool_use|research")]
CAUSED_BY = "What it follows from: a snapshot's id, or the ref of anything."
RESTS_ON = "What it rests on besides its cause; [] none. Left out: your last 5 of an hour."
FITTING_TAGS = "Left out: at most 5 tags of the project that the content is about; [] none."


class SnapshotArguments(TypedDict, total=False):
    """The arguments of a snapshot except its content. None and absent are the same."""

    summary: Annotated[str, About("Left out: its first sentences.")] | None
    action_type: Annotated[ActionWord, About("Left out: conversation.")] | None
    rationale: Annotated[str, About("Why it was done.")] | None
    caused_by: (
        Annotated[Ref, About("What it follows from: a snapshot's id, or the ref of anything.", REF)] | None
    )
    dependencies: Annotated[list[Id], AsIds, About(RESTS_ON, MOST_ENTRIES)] | None
    tags: Annotated[Words, About(FITTING_TAGS)] | None
    source: Annotated[str, About("Where it comes from; left out: mcp or api.", OPTIONAL_WORD)] | None
    metadata: Object | None
    session: Annotated[Ref, About("A session's id or your name for it.")] | None


@frozen
class SnapshotFields:
    """Validated fields. `masked`: how many credentials of the content are masked; `summary` "": to be made;
    `caused_by`: the id of a snapshot, or the ref of something else, given as the argument `cause_argument`;
    `dependencies` and `tags` None: to be found.
    """

    content: str
    masked: int
    tokens: int
    summary: str
    action_type: ActionType
    rationale: str
    caused_by: int | str | None
    dependencies: Sequence[int] | None
    tags: Sequence[str] | None
    source: str
    metadata: Mapping[str, Any]
    cause_argument: str = "caused_by"

    @property
    def snapshot_cause(self) -> int | None:
        return self.caused_by if isinstance(self.caused_by, int) else None


def clean_snapshot(caller: Caller, *, content: str, **rest: Unpack[SnapshotArguments]) -> SnapshotFields:
    """Validate everything that needs no database. Raises InvalidInput.

    Where an argument is absent, metadata may say action_type, rationale, caused_by and dependencies.
    """
    text, masked = clean_masked_text(content, "content")
    if not text.strip():
        raise InvalidInput("content must not be blank.")
    metadata = changed_metadata({}, clean_object(rest.get("metadata"), "metadata", caller))
    said = _Said(rest, metadata)
    cause, cause_argument = said.of("caused_by", "causedBy")
    return SnapshotFields(
        content=text,
        masked=masked,
        tokens=count_tokens(text),
        summary=clean_text(rest.get("summary"), "summary", caller).strip(),
        action_type=_clean_action_type(*said.of("action_type", "actionType")),
        rationale=_clean_rationale(*said.of("rationale"), caller),
        caused_by=_clean_cause(cause, cause_argument),
        cause_argument=cause_argument,
        dependencies=_clean_dependencies(*said.of("dependencies")),
        tags=_clean_tags(rest.get("tags"), caller),
        source=clean_source(rest.get("source") or "mcp", caller),
        metadata=metadata,
    )


def clean_source(value: str, caller: Caller) -> str:
    cleaned = clean_name(value, "source", at_most=SOURCE_LENGTH)
    refuse_secret(cleaned, "source", caller)
    return cleaned


def clean_view(value: str) -> str:
    return clean_one_of(value, VIEWS, "view")


def clean_id(value: Any, name: str) -> int:
    """The number of a snapshot; whether there is one is not checked. Raises InvalidInput."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    word, colon, number = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    is_snapshot = not colon or word.strip().lower() == "snapshot"
    if not is_snapshot or not (found := read_id(number.strip())):
        raise InvalidInput(f"{name}: {shown(value)} is not the id of a snapshot: write 17 or snapshot:17.")
    return found


def clean_start(value: str) -> int | str:
    """The number for 17 or snapshot:17, the ref of anything else. Raises InvalidInput."""
    word, colon, name = value.strip().partition(":")
    if colon and word.strip().lower() != "snapshot":
        return value
    number = (name if colon else word).strip()
    if not (found := re.fullmatch(r"(-?[0-9]{1,100})(\.0)?", number)):
        raise InvalidInput(
            f"id: {shown(value)} is neither the id of a snapshot nor a ref.",
            hint="Write 17, snapshot:17, or the ref of something else: decision:api/auth/method.",
        )
    return int(found[1])


@frozen
class _Said:
    """The arguments, and the metadata that stand in for absent ones."""

    arguments: Mapping[str, Any]
    metadata: Mapping[str, Any]

    def of(self, name: str, *also: str) -> tuple[Any, str]:
        """A value, None if it is absent, and the name that errors show. `also`: other names in metadata."""
        if (value := self.arguments.get(name)) is not None:
            return value, name
        for key in (name, *also):
            if (value := self.metadata.get(key)) is not None:
                return value, f"metadata.{key}"
        return None, name


def _clean_action_type(value: Any, name: str) -> ActionType:
    return ActionType.CONVERSATION if value in (None, "") else clean_choice(value, ActionType, name)


def _clean_rationale(value: Any, name: str, caller: Caller) -> str:
    if not isinstance(value, str | None):
        raise InvalidInput(f"{name} must be a text.")
    return clean_text(value, name, caller)


def _clean_cause(value: Any, name: str) -> int | str | None:
    """The id of a snapshot, the ref of anything else; None: there is none."""
    if value in (None, ""):
        return None
    try:
        # Some clients have fractions alone: 17.0.
        return clean_id(value.removesuffix(".0") if isinstance(value, str) else value, name)
    except InvalidInput as error:
        kind, colon, _ = value.partition(":") if isinstance(value, str) else ("", "", "")
        if colon and kind.strip().lower() != "snapshot":
            return str(value).strip()
        raise InvalidInput(
            f"{name}: {shown(value)} is neither the id of a snapshot nor a ref.",
            hint="Write 17, snapshot:17, or the ref of something else: decision:api/auth/method.",
        ) from error


def _clean_dependencies(values: Any, name: str) -> list[int] | None:
    """The ids, each once; None: not given."""
    if values is None:
        return None
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise InvalidInput(f"{name} must be a list of snapshots.", hint="[17, 18]; [] means none.")
    if len(values) > LIST_LENGTH:
        raise InvalidInput(f"{name} has {len(values)} entries; the limit is {LIST_LENGTH}.")
    return list(dict.fromkeys(clean_id(value, f"{name}[{n}]") for n, value in enumerate(values)))


def _clean_tags(values: Sequence[str] | None, caller: Caller) -> list[str] | None:
    if values is None:
        return None
    cleaned = clean_words(values, "tags")
    refuse_secret("\n".join(cleaned), "tags", caller)
    return cleaned
