"""Validates names, texts, lists, numbers and JSON for REST, MCP and admin.

Each function returns the clean value or raises InvalidInput.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import IntegerChoices

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ALLOW_SECRET, Caller, current
from ctxhub.core.kit.errors import InvalidInput, LooksLikeCredential, shown, unknown_word
from ctxhub.core.kit.known_names import is_known
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.text_lists import (
    UnreadableList,
    name_of_entry,
    names_of,
    parse_list,
    read_names,
    split_names,
)
from ctxhub.core.text import secrets
from ctxhub.core.text.braces import MOST_EXPANDED, expand_braces, split_outside_braces
from ctxhub.core.text.glob_syntax import (
    EXEMPTS,
    exempted,
    is_exempting,
    refuse_exempting,
    refuse_extended_glob,
    unescape_brackets,
)
from ctxhub.core.text.invisible import (
    described,
    invisible_places,
    marked_all,
    strip_invisible,
    with_plain_blanks,
    without_invisible,
)

# In an address, instead of a slug: the caller's own project.
OWN_PROJECT = "-"
NAME_LENGTH = 200
WORD_LENGTH = 100
LIST_LENGTH = 50
TEXT_BYTES = 64 * 1024
CONTENT_BYTES = 1_048_576
JSON_DEPTH = 20
MAX_LIMIT = 200

HOW_TO_WRITE_NAMES = 'Write ["api", "auth"], or: api, auth'

# What an entry holds that is several names, or is left over from a list.
_OF_LISTS = re.compile(r"""[][(){}"'`,\n\r]|^\s*[-*+•]\s""")
_LEFT_OPEN = re.compile(r"\$\{[^}]*\}")

ChoiceT = TypeVar("ChoiceT", bound=IntegerChoices)

IsName = Callable[[str], bool]
"""Whether a file, or what else has a path, is known by exactly that name."""


def no_name(path: str) -> bool:
    return False


def clean_name(value: str, name: str, *, at_most: int = NAME_LENGTH, keeps_blanks: bool = False) -> str:
    """A key or name: as `clean_new_name`, but one that the project holds already is taken as it is."""
    refuse_unstorable(value, name)
    sent = unicodedata.normalize("NFC", value).strip()
    is_changed = invisible_places(sent) or plain_name(value, keeps_blanks=keeps_blanks) != sent
    if is_changed and len(sent) <= at_most and is_known(sent):
        return sent
    return clean_new_name(value, name, at_most=at_most, keeps_blanks=keeps_blanks)


def clean_new_name(value: str, name: str, *, at_most: int = NAME_LENGTH, keeps_blanks: bool = False) -> str:
    """A name of one to `at_most` characters, case-sensitive, with nothing in it that nobody sees.

    Such characters are removed at the ends (`plain_name`) and refused inside; see `text/invisible.py`.
    """
    refuse_unstorable(value, name)
    cleaned = plain_name(value, keeps_blanks=keeps_blanks)
    if not cleaned:
        raise InvalidInput(f"{name} must not be blank.")
    if len(cleaned) > at_most:
        raise InvalidInput(f"{name} has {len(cleaned)} characters; the limit is {at_most}.")
    if places := invisible_places(cleaned):
        at = places[0]
        around = marked_all(cleaned[max(0, at - 20) : at + 20])
        raise InvalidInput(
            f"{name} holds {described(cleaned[at])} at character {at}: {shown(around)}. "
            "A name holds no character that nobody sees.",
            hint="Write the name without it.",
        )
    return cleaned


def plain_name(value: str, *, keeps_blanks: bool = False) -> str:
    """A name in NFC, without blanks and what nobody sees at its ends.

    Blanks inside that look like U+0020, such as U+00A0, become it, but in a path (`keeps_blanks`), which has
    to name its file.
    """
    stripped = strip_invisible(unicodedata.normalize("NFC", value))
    return stripped if keeps_blanks else with_plain_blanks(stripped)


def clean_title(value: str, name: str, *, at_most: int) -> str:
    """A title, which names nothing: characters that nobody sees are removed, a line break becomes a blank."""
    refuse_unstorable(value, name)
    return clean_new_name(without_invisible(value), name, at_most=at_most)


def clean_agent(value: str, argument: str = "agent") -> str:
    """An agent's name, which everybody can read: no credential, and no unfilled variable like `${NAME}`."""
    return clean_call_name(
        value, argument, "It names who speaks: ada. A token belongs into the header Authorization."
    )


def clean_call_name(value: str, argument: str, hint: str) -> str:
    """A name that a client is configured with: no credential (`hint` says what belongs here), no variable."""
    name = clean_new_name(value, argument, at_most=WORD_LENGTH)
    if _LEFT_OPEN.search(name):
        raise InvalidInput(
            f"{argument} is {shown(name)}: a variable that the client did not fill in.",
            hint="Set it where the client is started, or leave it out.",
        )
    if found := secrets.find_secret(name):
        raise InvalidInput(f"{argument} seems to be a credential ({found.kind}); not stored.", hint=hint)
    return name


def clean_text(value: str | None, name: str, caller: Caller, *, at_most: int = TEXT_BYTES) -> str:
    """A text of at most `at_most` bytes in UTF-8 that holds no credential. None clears: an empty text."""
    if value is None:
        return ""
    size = refuse_unstorable(value, name)
    if size > at_most:
        raise InvalidInput(
            f"{name} has {size:,} bytes; the limit is {at_most:,}.", hint="Store a summary and a path."
        )
    refuse_secret(value, name, caller)
    return value


def clean_masked_text(value: str | None, name: str, *, at_most: int = CONTENT_BYTES) -> tuple[str, int]:
    """A text whose credentials are masked, and their number: what is saved at the end must not be lost.

    A call with `allow_secret` keeps them, and notes that.
    """
    if value is None:
        return "", 0
    size = refuse_unstorable(value, name)
    if size > at_most:
        raise InvalidInput(
            f"{name} has {size:,} bytes; the limit is {at_most:,}.", hint="Store a summary and a path."
        )
    caller = current()
    if caller is not None and caller.kept is not None:
        refuse_secret(value, name, caller)
        return value, 0
    return secrets.mask_secrets(value)


def clean_query(value: str, name: str) -> str:
    """A search query: any text of at most 64 KiB that is not blank."""
    size = refuse_unstorable(value, name)
    if size > TEXT_BYTES:
        raise InvalidInput(f"{name} has {size:,} bytes; the limit is {TEXT_BYTES:,}.")
    if not value.strip():
        raise InvalidInput(f"{name} must not be blank.")
    return value


def clean_words(values: Iterable[str] | None, name: str) -> list[str]:
    """Tags, scopes or agents: up to 50 names of up to 100 characters, without duplicates, ignoring case.

    A comma separates names, so no name contains one: "api,security" are two tags. Raises InvalidInput for a
    piece of a list: "['api'".
    """
    listed = list(values or ())
    if any(map(_OF_LISTS.search, listed)):
        listed = [word for n, value in enumerate(listed) for word in separated(value, f"{name}[{n}]")]
    return clean_names(listed, name)


def names_in(text: str, name: str) -> list[str]:
    """The names in a list that was sent as a text. Raises InvalidInput."""
    try:
        return [name_of_entry(one) for one in read_names(text)]
    except UnreadableList:
        raise piece_of_list(text, name) from None


def separated(value: str, name: str, *, are_globs: bool = False) -> list[str]:
    """The names between commas, or in a list that an entry is; "" if there is none. Raises InvalidInput.

    `are_globs`: a comma in braces separates nothing.
    """
    if not _OF_LISTS.search(value):
        return [value]
    try:
        listed = parse_list(value)
        names = (
            split_names(value, separators=",", are_globs=are_globs) if listed is None else names_of(listed)
        )
        entries = [name_of_entry(one, is_glob=are_globs) for one in names]
        words = [
            part.strip()
            for one in entries
            for part in (split_outside_braces(one, ",") if are_globs else one.split(","))
        ]
    except UnreadableList:
        raise piece_of_list(value, name) from None
    return [word for word in words if word] or [""]


def refuse_pieces(values: Iterable[str], name: str) -> None:
    """Raise InvalidInput for a name that is a piece of a list: "['api'"."""
    for position, value in enumerate(values):
        try:
            name_of_entry(value)
        except UnreadableList:
            raise piece_of_list(value, f"{name}[{position}]") from None


def piece_of_list(value: str, name: str) -> InvalidInput:
    return InvalidInput(f"{name} is a piece of a list: {shown(value)}.", hint=HOW_TO_WRITE_NAMES)


def clean_names(values: Iterable[str] | None, name: str) -> list[str]:
    """Like `clean_words`, for names that may contain commas."""
    cleaned: dict[str, str] = {}
    for position, value in enumerate(bounded(values, name)):
        word = clean_name(value, f"{name}[{position}]", at_most=WORD_LENGTH)
        cleaned.setdefault(word.casefold(), word)
    return list(cleaned.values())


def clean_paths(values: Iterable[str] | None, name: str, *, is_name: IsName = no_name) -> list[str]:
    """Globs of files that an object bears on: up to 50 with braces expanded, without duplicates.

    One that begins with "!" exempts files from those before it, so the first cannot. The order counts then,
    and duplicates stay.
    """
    globs = clean_glob_list(values, name, refuses_exempting=False, is_name=is_name)
    if not any(map(is_exempting, globs)):
        return list(dict.fromkeys(globs))
    if is_exempting(globs[0]):
        raise InvalidInput(
            f"{name}: {shown(globs[0])} comes first and exempts nothing, as the last match decides.",
            hint=f'Begin with what it exempts from: ["**", "{globs[0][:100]}"].',
        )
    return globs


def clean_glob_list(
    values: Iterable[str] | None, name: str, *, refuses_exempting: bool = True, is_name: IsName = no_name
) -> list[str]:
    """Up to 50 paths or globs relative to the repository, with braces expanded."""
    globs = [
        glob
        for n, value in enumerate(bounded(values, name))
        for glob in clean_globs(
            value,
            f"{name}[{n}]",
            at_most=LIST_LENGTH,
            refuses_exempting=refuses_exempting,
            is_name=is_name,
        )
    ]
    if (count := len(dict.fromkeys(globs))) > LIST_LENGTH:
        raise InvalidInput(
            f"{name} has {count} entries once its braces are expanded; the limit is {LIST_LENGTH}.",
            hint="Write wider globs: src/** is everything below src, *.ts? two endings.",
        )
    return globs


def clean_asked_globs(value: str, name: str, *, is_name: IsName = no_name) -> list[str]:
    """What a path or glob that is asked for stands for: up to 64 of them, and itself if it has braces.

    A file may really be called so.
    """
    globs = clean_globs(value, name, is_name=is_name)
    return globs if len(globs) == 1 else list(dict.fromkeys([clean_path(value, name), *globs]))


def clean_globs(
    value: str,
    name: str,
    *,
    at_most: int = MOST_EXPANDED,
    refuses_exempting: bool = True,
    is_name: IsName = no_name,
) -> list[str]:
    """The paths or globs, relative to the repository, that one with braces stands for.

    `is_name`: whether a file is called so; then it is that file alone. Raises InvalidInput also for extended
    globs, and for those that begin with "!" where none may.
    """
    glob = clean_path(value, name)
    if is_name(glob):
        # Where a "!" exempts, no glob can begin with the letter.
        return [glob if refuses_exempting or not is_exempting(glob) else f"?{exempted(glob)}"]
    refuse_extended_glob(glob, name)
    globs = [_clean_glob(each, name) for each in expand_braces(glob, name, at_most=at_most)]
    for each in globs if refuses_exempting else ():
        refuse_exempting(each, name)
    return globs


def _clean_glob(glob: str, name: str) -> str:
    if is_exempting(glob):
        return f"{EXEMPTS}{clean_path(exempted(glob), name)}"
    return clean_path(glob, name)


def clean_path(value: str, name: str) -> str:
    """A path or glob relative to the repository: `/`-separated, without `..`, up to 1,000 characters.

    As it is written: `PathReader` of `core/paths/` reads what calls name.
    """
    path = clean_name(value, name, at_most=PATH_LENGTH, keeps_blanks=True)
    path = unescape_brackets(path).replace("\\", "/")
    while path.startswith("./"):
        path = strip_invisible(path.removeprefix("./"))
    if not path or path.startswith("/") or ".." in path.split("/") or (len(path) > 1 and path[1] == ":"):
        raise InvalidInput(
            f"{name}: {shown(value)} must be relative to the repository, without '..'.",
            hint="Leave out the folder that the repository is in: src/api/auth.py.",
        )
    return path


def clean_object(value: Mapping[str, Any] | None, name: str, caller: Caller) -> dict[str, Any]:
    """A JSON object of at most 64 KiB, 20 levels deep, that holds no credential. None clears."""
    if value is None:
        return {}
    return dict(clean_json(value, name, caller))


def clean_json(value: Any, name: str, caller: Caller) -> Any:
    """Any JSON value of at most 64 KiB, 20 levels deep, without NUL, NaN or a credential."""
    _check_json(value, name, JSON_DEPTH)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{name} is not JSON: {error}.") from error
    clean_text(text, name, caller)
    return value


def merge_object(stored: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata merges by key; null removes a key."""
    return {key: value for key, value in {**stored, **change}.items() if value is not None}


def clean_number(value: int | float, name: str) -> int | float:
    if isinstance(value, bool):
        raise InvalidInput(f"{name} must be a text or a number, not {str(value).lower()}.")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{name} must be a finite number.")
    if isinstance(value, int) and abs(value) >= 10**300:
        raise InvalidInput(f"{name} has more than 300 digits; store it as a text.")
    return value


def clean_choice(value: Any, choices: type[ChoiceT], name: str) -> ChoiceT:
    """A choice, given by its label in any case, or by its number."""
    words = {choice.label.lower(): choice for choice in choices}
    numbers = {str(choice.value): choice for choice in choices}
    key = str(value).strip().lower()
    if key not in words and key not in numbers:
        raise unknown_word(name, value, list(words))
    return words[key] if key in words else numbers[key]


def clean_one_of(value: str, known: Sequence[str], name: str) -> str:
    word = value.strip().lower()
    if word not in known:
        raise unknown_word(name, value, known)
    return word


def clean_match(value: str) -> bool:
    """True for `all` or AND; False for `any` or OR."""
    return (
        clean_one_of({"and": "all", "or": "any"}.get(value.strip().lower(), value), ["any", "all"], "match")
        == "all"
    )


def clean_limit(value: int, name: str = "limit", *, at_most: int = MAX_LIMIT) -> int:
    return clean_from_to(value, name, 1, at_most)


def clean_from_to(value: int, name: str, at_least: int, at_most: int) -> int:
    if not at_least <= value <= at_most:
        raise InvalidInput(f"{name} is {shown(value)}; it must be between {at_least} and {at_most}.")
    return value


def read_id(name: str) -> int | None:
    """The id that `name` is; None if it is no id, or too large for the database."""
    is_id = name.isascii() and name.isdecimal() and name[0] != "0" and len(name) < 19
    return int(name) if is_id else None


def read_ref_id(value: Any, kind: str) -> Any:
    """The id, as text, in a ref of this kind (`memory:17`) or alone; a value that is no text stays as it is.

    Raises InvalidInput for a ref of another kind.
    """
    if not isinstance(value, str):
        return value
    word, colon, name = value.strip().partition(":")
    if colon and word.strip().lower() != kind:
        raise InvalidInput(f"{shown(value)} is not the id of a {kind}: write 17 or {kind}:17.")
    return name.strip() if colon else word


def clean_moment(value: str | datetime | None, name: str) -> datetime | clock.EventCursor | None:
    """The time or event cursor in an argument; None if it is empty."""
    if isinstance(value, datetime):
        return value
    return clock.parse_moment(value, name) if value else None


def bounded(values: Iterable[str] | None, name: str) -> list[str]:
    listed = list(values or ())
    if len(listed) > LIST_LENGTH:
        raise InvalidInput(f"{name} has {len(listed)} entries; the limit is {LIST_LENGTH}.")
    return listed


def _check_json(value: Any, name: str, levels: int) -> None:
    if isinstance(value, str):
        refuse_unstorable(value, name)
    elif isinstance(value, (Mapping, list)):
        if levels == 0:
            raise InvalidInput(f"{name} is nested more than {JSON_DEPTH} levels deep.")
        for item in [*value, *value.values()] if isinstance(value, Mapping) else value:
            _check_json(item, name, levels - 1)


def refuse_unstorable(value: str, name: str) -> int:
    """The size of a text in bytes. Raises InvalidInput for a text that a database cannot store."""
    if "\x00" in value:
        raise InvalidInput(f"{name} holds a NUL character.")
    try:
        return len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} holds half of a surrogate pair at character {error.start}.") from error


SAY_WHERE = "Say where the secret is kept instead."
NO_SECRETS = f"{SAY_WHERE} With the scope admin, {ALLOW_SECRET}:true stores it."


def refuse_joined_secret(pieces: Sequence[str], name: str, caller: Caller) -> None:
    """Refuse a text joined from pieces if it contains a credential that none of the pieces does."""
    if caller.keeps_secrets and caller.kept is None:
        return
    if not (found := secrets.find_joined_secret(*pieces)):
        return
    if not _note_kept(found, name, caller):
        raise LooksLikeCredential(
            f"{name} makes a credential ({found.kind}) with the text beside it; not stored.", hint=NO_SECRETS
        )


def refuse_secret(value: str, name: str, caller: Caller) -> None:
    if caller.keeps_secrets and caller.kept is None:
        return
    if not (found := secrets.find_secret(value)):
        return
    if not _note_kept(found, name, caller):
        raise LooksLikeCredential(
            f"{name} seems to hold a credential ({found.kind}) at character {found.start}; not stored.",
            hint=NO_SECRETS,
        )


def _note_kept(found: secrets.Secret, name: str, caller: Caller) -> bool:
    """Note a credential that the call stores; False if it is to be refused."""
    if not caller.keeps_secrets or caller.kept is None:
        return False
    caller.kept.append(f"{name} ({found.kind})")
    return True
