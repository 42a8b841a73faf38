"""Validates what a caller says about a file: its content, hash, size, tokens, type and mark."""

import hashlib
from datetime import datetime
from typing import Annotated, TypedDict, Unpack

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import CONTENT_BYTES, clean_choice, clean_from_to, clean_masked_text, clean_name
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.argument_types import About, Number, Says, Word
from tracking.files.models import HASH_LENGTH
from tracking.models import AccessKind, ResourceType

MOST_TOKENS = 2**31 - 1
MOST_BYTES = 2**63 - 1
MOST_IMPORTANCE = 100


AtLeastNone = About(schema={"minimum": 0})
TypeWord = Annotated[
    Word,
    Says("code|documentation|data|research|generated", in_description=False),
    About("Left out: by the name of the file, or as it was."),
]
Mark = Annotated[Number, About("Your own mark of it.", {"minimum": 0, "maximum": MOST_IMPORTANCE})]
Hash = Annotated[str, About("Left out: the SHA-256 of the content.", {"maxLength": HASH_LENGTH})]


class FactArguments(TypedDict, total=False):
    """What a caller says about a file, before validation."""

    content: Annotated[str, About("Its text; up to 1 MiB is kept.")] | None
    hash: Hash | None
    size: Annotated[Number, About("In bytes; left out: of the content."), AtLeastNone] | None
    token_count: Annotated[Number, About("Left out: counted."), AtLeastNone] | None
    type: TypeWord | None
    importance: Mark | None


@frozen
class Content:
    """A content, measured and masked. `hash` and `size` (in bytes) are those of the original text.

    `text`: what is kept, without credentials, and `text_hash` its hash; None: it is too long to be kept.
    `masked`: how many credentials were replaced.
    """

    hash: str
    size: int
    tokens: int
    text: str | None = None
    text_hash: str = ""
    masked: int = 0


@frozen
class Access:
    kind: AccessKind
    at: datetime


@frozen
class FileFacts:
    """What a caller says about a file; what is None stays as it is."""

    content: Content | None = None
    hash: str | None = None
    size: int | None = None
    tokens: int | None = None
    type: ResourceType | None = None
    mark: int | None = None

    @property
    def known_hash(self) -> str | None:
        """The hash as the caller gave it, else that of the content."""
        return self.hash or (self.content.hash if self.content else None)

    @property
    def masked(self) -> int:
        return self.content.masked if self.content else 0


def clean_facts(**given: Unpack[FactArguments]) -> FileFacts:
    """The facts about one file. Counts tokens and masks credentials, so call it before any lock is taken."""
    content, hash, type = given.get("content"), given.get("hash"), given.get("type")
    size, token_count, mark = given.get("size"), given.get("token_count"), given.get("importance")
    return FileFacts(
        content=None if content is None else clean_content(content),
        hash=clean_name(hash, "hash", at_most=HASH_LENGTH) if hash else None,
        size=None if size is None else _clean_size(size),
        tokens=None if token_count is None else clean_from_to(token_count, "token_count", 0, MOST_TOKENS),
        type=clean_choice(type, ResourceType, "type") if type else None,
        mark=None if mark is None else clean_from_to(mark, "importance", 0, MOST_IMPORTANCE),
    )


def clean_content(value: str, name: str = "content") -> Content:
    """A content of any length; up to 1 MiB is kept."""
    text, masked = clean_masked_text(value, name, at_most=MOST_BYTES)
    data = value.encode()
    found = Content(hash=_sha256(data), size=len(data), tokens=count_tokens(text))
    if found.size > CONTENT_BYTES:
        return found
    text_hash = _sha256(text.encode()) if masked else found.hash
    return Content(found.hash, found.size, found.tokens, text, text_hash, masked)


def _clean_size(size: int) -> int:
    if not 0 <= size <= MOST_BYTES:
        raise InvalidInput(f"size is {size}; it counts bytes, from 0 on.")
    return size


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
