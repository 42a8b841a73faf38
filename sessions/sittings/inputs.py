"""Validates the input of session operations. Runs before the write lock."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.kit.caller import Caller, current
from ctxhub.core.kit.clock import EventCursor
from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import (
    CONTENT_BYTES,
    WORD_LENGTH,
    clean_from_to,
    clean_masked_text,
    clean_moment,
    clean_name,
    clean_names,
    clean_object,
    clean_text,
    clean_title,
    refuse_pieces,
    refuse_secret,
)
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.limits import MOST_ENTRIES, OPTIONAL_NAME, OPTIONAL_PATH, TEXT
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.text.invisible import strip_invisible
from ctxhub.core.text.secrets import find_joined_secret, mask_secrets
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    About,
    ItemsOrTexts,
    Number,
    Object,
    Ref,
    Says,
    Words,
)
from sessions.sittings.conversations import SavedConversation, conversation_text
from sessions.sittings.models import DEFAULT_WORKSPACE, HASH_LENGTH, WORKSPACE_LENGTH
from tracking.files.inputs import FileFacts, clean_content
from tracking.files.paths import clean_file


def clean_entries(
    values: Sequence[Any] | None, name: str, fields: Sequence[str], at_most: int, *, text: str
) -> list[tuple[str, Mapping[str, Any]]]:
    """Each entry with its name for errors (`items[3]`). Raises InvalidInput for too many or other fields.

    An entry that is a text has it as the field `text`.
    """
    entries = list(values or ())
    if len(entries) > at_most:
        raise InvalidInput(f"{name} has {len(entries)} entries; the limit is {at_most}.")
    objects = [{text: entry} if isinstance(entry, str) else entry for entry in entries]
    return [(f"{name}[{n}]", _clean_entry(entry, f"{name}[{n}]", fields)) for n, entry in enumerate(objects)]


def text_of(entry: Mapping[str, Any], name: str, field: str, *, required: bool = False) -> str:
    """A text of an entry; "" if it is absent or null and not `required`."""
    value = entry.get(field)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise InvalidInput(
            f"{name} needs {field}: a text." if required else f"{name}.{field} must be a text."
        )
    return value


def number_of(entry: Mapping[str, Any], name: str, field: str, at_least: int, at_most: int) -> int | None:
    """A whole number of an entry; None if it is absent."""
    value = entry.get(field)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not value.is_integer()):
        raise InvalidInput(f"{name}.{field} must be a whole number, not {shown(value)}.")
    return clean_from_to(int(value), f"{name}.{field}", at_least, at_most)


def time_of(entry: Mapping[str, Any], name: str, field: str) -> datetime | None:
    value = text_of(entry, name, field)
    moment = clean_moment(value, f"{name}.{field}")
    if isinstance(moment, EventCursor):
        raise InvalidInput(f"{name}.{field} must be a time, not {shown(value)}.")
    return moment


def _clean_entry(entry: Any, name: str, fields: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise InvalidInput(
            f"{name} must be a text, or an object with {', '.join(fields)}; not {shown(entry)}."
        )
    if unknown := [str(field) for field in entry if field not in fields]:
        raise InvalidInput(
            f"{name} has no {shown_all(unknown)}; it takes {', '.join(fields)}.",
            did_you_mean=nearest(unknown[0], fields),
            allowed=list(fields),
        )
    return entry


MOST_ITEMS = 50
MOST_FILES = 500
MOST_TOKENS = 2**31 - 1
TOGETHER_BYTES = 4 * CONTENT_BYTES
LEAST_BUDGET, MOST_BUDGET = 200, 20_000
DEFAULT_IMPORTANCE = 5
STATE = ("active_project", "enabled_mcps", "settings", "branch", "worktree")


SavedFiles = Annotated[
    ItemsOrTexts,
    NAMES_FILES,
    Says("{path,hash}"),
    About("path, hash, content, modified_at of each, or paths; replaces.", {"maxItems": MOST_FILES}),
]
SavedItems = Annotated[
    ItemsOrTexts,
    Says("{category,content,importance}"),
    About(
        "category, content, importance 1..10, tokens of each, or texts; replaces.", {"maxItems": MOST_ITEMS}
    ),
]
Tokens = Annotated[Number, About("Left out: counted.", {"minimum": 0, "maximum": MOST_TOKENS})]
Name = Annotated[str, About(schema=OPTIONAL_NAME)]


class SaveArguments(TypedDict, total=False):
    """The arguments of `save` besides `session` and `ended`. UNSET and absent are the same; None clears."""

    workspace_id: Annotated[str, About("Left out: default.", OPTIONAL_NAME)] | Unset
    conversation: SavedConversation | Unset
    token_count: Tokens | Unset
    summary: Annotated[str, About(schema=TEXT)] | None | Unset
    items: SavedItems | None | Unset
    files: SavedFiles | None | Unset
    active_project: Name | None | Unset
    enabled_mcps: Annotated[Words, About(schema=MOST_ENTRIES)] | None | Unset
    settings: Object | None | Unset
    branch: Name | None | Unset
    worktree: Annotated[str, About(schema=OPTIONAL_PATH)] | None | Unset
    parent: Annotated[Ref, About("The session that it continues.")] | None | Unset


@frozen
class NewConversation:
    text: str
    tokens: int

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@frozen
class NewItem:
    category: str
    content: str
    importance: int
    tokens: int


@frozen
class NewFile:
    """A file as the caller saves it. `hash`: theirs, or the SHA-256 of the content; "": unknown."""

    hash: str
    modified_at: datetime | None
    facts: FileFacts


@frozen
class SaveFields:
    """Validated fields; UNSET where the caller gave no value. `files`: by path; `state`: those given.

    `masked`: how many credentials were replaced.
    """

    conversation: NewConversation | None = None
    workspace_id: str | Unset = UNSET
    token_count: int | Unset = UNSET
    summary: str | Unset = UNSET
    items: Sequence[NewItem] | Unset = UNSET
    files: Mapping[str, NewFile] | Unset = UNSET
    parent: str | Unset = UNSET
    state: Mapping[str, Any] = field(default_factory=dict)
    masked: int = 0

    @property
    def holds_something(self) -> bool:
        """Whether they say anything that can be restored."""
        texts = (if_set(self.summary, ""), if_set(self.items, ()), if_set(self.files, {}))
        return any([self.conversation, *texts, *self.state.values()])


def clean_save(caller: Caller, **arguments: Unpack[SaveArguments]) -> SaveFields:
    """Validate everything that needs no database, mask credentials and count tokens. Raises InvalidInput."""
    given: dict[str, Any] = {name: value for name, value in arguments.items() if value is not UNSET}
    if given.get("conversation"):
        given["conversation"] = conversation_text(given["conversation"])
    _check_size(given)
    masks = _Masks()
    fields = {name: _CLEANERS[name](value, caller) for name, value in given.items() if name in _CLEANERS}
    state = {name: fields.pop(name) for name in STATE if name in fields}
    if "items" in given:
        fields["items"] = _clean_items(given["items"], caller, masks)
    if "files" in given:
        fields["files"] = _clean_files(given["files"], caller, masks)
    conversation = _clean_conversation(given.get("conversation"), masks)
    return SaveFields(conversation, **fields, state=state, masked=masks.count)


def clean_workspace(value: str | None, caller: Caller) -> str:
    return _clean_line(value, "workspace_id", WORKSPACE_LENGTH, caller) or DEFAULT_WORKSPACE


def clean_place(name: str, value: str, caller: Caller) -> str:
    """A branch or a worktree, by the argument's name."""
    return str(_CLEANERS[name](value, caller))


def clean_budget(value: int) -> int:
    return clean_from_to(value, "budget_tokens", LEAST_BUDGET, MOST_BUDGET)


def clean_present_files(values: Sequence[Any] | None, caller: Caller) -> dict[str, str | None]:
    """The hashes of the caller's files by path; None: the caller has no such file.

    A path alone says that there is one, of an unknown hash: it is left out.
    """
    files = list(_with_paths(values, ("hash",), caller))
    return {
        path: _clean_hash(entry, name) or None
        for given, (name, path, entry) in zip(values or (), files, strict=True)
        if not isinstance(given, str)
    }


# -- Helpers ---------------------------------------------------------------------------------------


class _Masks:
    """Masks credentials in texts, and counts them."""

    count = 0

    def text(self, value: str, name: str, at_most: int) -> str:
        text, masked = clean_masked_text(value, name, at_most=at_most)
        self.count += masked
        return text

    def named_text(self, label: str, value: str, name: str, at_most: int) -> str:
        """A text that is shown behind its label: "password" makes a credential of what follows it."""
        text, start = self.text(value, name, at_most), f"{label}: "
        caller = current()
        is_allowed = caller is not None and caller.kept is not None
        if not label or is_allowed or not find_joined_secret(start, text):
            return text
        joined, masked = mask_secrets(start + text)
        self.count += masked
        return joined.removeprefix(start)


def _clean_conversation(value: str | None, masks: _Masks) -> NewConversation | None:
    if value is None or not value.strip():
        return None
    text = masks.text(value, "conversation", CONTENT_BYTES)
    return NewConversation(text, count_tokens(text))


def _clean_items(values: Sequence[Any] | None, caller: Caller, masks: _Masks) -> list[NewItem]:
    fields = ("category", "content", "importance", "tokens")
    return [
        _clean_item(entry, name, caller, masks)
        for name, entry in clean_entries(values, "items", fields, MOST_ITEMS, text="content")
    ]


def _clean_item(entry: Mapping[str, Any], name: str, caller: Caller, masks: _Masks) -> NewItem:
    category = _clean_line(text_of(entry, name, "category"), f"{name}.category", WORD_LENGTH, caller)
    content = text_of(entry, name, "content", required=True)
    text = masks.named_text(category, content, f"{name}.content", CONTENT_BYTES)
    importance = number_of(entry, name, "importance", 1, 10)
    tokens = number_of(entry, name, "tokens", 0, MOST_TOKENS)
    return NewItem(
        category=category,
        content=text,
        importance=DEFAULT_IMPORTANCE if importance is None else importance,
        tokens=count_tokens(text) if tokens is None else tokens,
    )


def _clean_files(values: Sequence[Any] | None, caller: Caller, masks: _Masks) -> dict[str, NewFile]:
    """The files by path; of a path that is named twice, the last."""
    files: dict[str, NewFile] = {}
    for name, path, entry in _with_paths(values, ("hash", "content", "modified_at"), caller):
        refuse_secret(path, f"{name}.path", caller)
        files[path] = _clean_saved_file(entry, name, masks)
    return files


def _with_paths(
    values: Sequence[Any] | None, fields: Sequence[str], caller: Caller
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The name of each entry in errors, its path, and what it says about the file."""
    entries = list(clean_entries(values, "files", ("path", *fields), MOST_FILES, text="path"))
    texts = [text_of(entry, name, "path", required=True) for name, entry in entries]
    reader = reader_of(caller)
    reader.learn(texts)
    for text, (name, entry) in zip(texts, entries, strict=True):
        yield name, clean_file(text, f"{name}.path", reader=reader), entry


def _clean_saved_file(entry: Mapping[str, Any], name: str, masks: _Masks) -> NewFile:
    hash_ = _clean_hash(entry, name)
    content = None
    if entry.get("content") is not None:
        content = clean_content(text_of(entry, name, "content"), f"{name}.content")
        masks.count += content.masked
    return NewFile(
        hash=hash_ or (content.hash if content else ""),
        modified_at=time_of(entry, name, "modified_at"),
        facts=FileFacts(content=content, hash=hash_ or None),
    )


def _clean_hash(entry: Mapping[str, Any], name: str) -> str:
    value = text_of(entry, name, "hash")
    return clean_name(value, f"{name}.hash", at_most=HASH_LENGTH) if value.strip() else ""


def _check_size(given: Mapping[str, Any]) -> None:
    """Refuse contents that are too long together, before anything is done with them."""
    entries = [*(given.get("items") or ()), *(given.get("files") or ())]
    texts = [entry.get("content") if isinstance(entry, Mapping) else entry for entry in entries]
    texts.append(given.get("conversation"))
    size = sum(len(text.encode(errors="replace")) for text in texts if isinstance(text, str))
    if size > TOGETHER_BYTES:
        raise InvalidInput(
            f"conversation and contents have {size:,} bytes together; the limit is {TOGETHER_BYTES:,}.",
            hint="Give files by hash alone: their content can be read where they are.",
        )


def _clean_line(
    value: str | None,
    name: str,
    at_most: int,
    caller: Caller,
    *,
    clean: Callable[..., str] = clean_name,
) -> str:
    """A short text, stripped; "" if it is blank."""
    if value is None or not strip_invisible(value):
        return ""
    cleaned = clean(value, name, at_most=at_most)
    refuse_secret(cleaned, name, caller)
    return cleaned


def _label(name: str, at_most: int) -> Callable[[Any, Caller], str]:
    """A name of something that is not the hub's, such as a branch: cleaned, never refused for a character."""
    return lambda value, caller: _clean_line(value, name, at_most, caller, clean=clean_title)


def _clean_token_count(value: int | None, caller: Caller) -> int | Unset:
    return UNSET if value is None else clean_from_to(value, "token_count", 0, MOST_TOKENS)


def _clean_servers(values: Sequence[str] | None, caller: Caller) -> list[str]:
    cleaned = clean_names(values, "enabled_mcps")
    refuse_pieces(cleaned, "enabled_mcps")
    refuse_secret("\n".join(cleaned), "enabled_mcps", caller)
    return cleaned


_CLEANERS: dict[str, Callable[[Any, Caller], Any]] = {
    "workspace_id": clean_workspace,
    "token_count": _clean_token_count,
    "summary": lambda value, caller: clean_text(value, "summary", caller),
    "active_project": _label("active_project", WORKSPACE_LENGTH),
    "enabled_mcps": _clean_servers,
    "settings": lambda value, caller: clean_object(value, "settings", caller),
    "branch": _label("branch", WORKSPACE_LENGTH),
    "worktree": _label("worktree", PATH_LENGTH),
    "parent": lambda value, caller: "" if value is None else str(value).strip(),
}
