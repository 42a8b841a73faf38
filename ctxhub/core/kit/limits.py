"""The limits of texts as JSON Schema keywords. They only document the limits; services enforce them.

Services count names without surrounding blanks, and texts in bytes of UTF-8: values that the schema forbids
are always refused, values that it allows are accepted, except rare texts that grow or are longer in bytes.
"""

from typing import Any

from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.core.kit.inputs import CONTENT_BYTES, LIST_LENGTH, NAME_LENGTH, TEXT_BYTES, WORD_LENGTH
from ctxhub.core.kit.lengths import PATH_LENGTH

Limits = dict[str, Any]

ANY_LENGTH: Limits = {}
NOT_BLANK: Limits = {"minLength": 1, "pattern": r"\S"}
AT_LEAST_A_CHARACTER: Limits = {"minLength": 1}

NAME: Limits = {**NOT_BLANK, "maxLength": NAME_LENGTH}
OPTIONAL_NAME: Limits = {"maxLength": NAME_LENGTH}
TITLE: Limits = {**NOT_BLANK, "maxLength": 500}
OPTIONAL_TITLE: Limits = {"maxLength": 500}
WORD: Limits = {**NOT_BLANK, "maxLength": WORD_LENGTH}  # A tag, a scope, an agent, a category.
OPTIONAL_WORD: Limits = {"maxLength": WORD_LENGTH}
VERSION: Limits = {**NOT_BLANK, "maxLength": 50}
PATH: Limits = {**NOT_BLANK, "maxLength": PATH_LENGTH}
OPTIONAL_PATH: Limits = {"maxLength": PATH_LENGTH}
REF: Limits = {**NOT_BLANK, "maxLength": PATH_LENGTH + 100}
SCOPE: Limits = {"enum": [READ, WRITE, ADMIN]}

TEXT: Limits = {"maxLength": TEXT_BYTES}
REQUIRED_TEXT: Limits = {**NOT_BLANK, "maxLength": TEXT_BYTES}
QUESTION = NOT_BLANK  # In a URL, whose total length the server limits.
CONTENT: Limits = {**NOT_BLANK, "maxLength": CONTENT_BYTES}
MOST_ENTRIES: Limits = {"maxItems": LIST_LENGTH}
