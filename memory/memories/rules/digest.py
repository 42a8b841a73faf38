"""Computes the digest that lists show of a memory, and the tokens of its title and content."""

import re

from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.token_count import count_tokens

# A longer first sentence is truncated, so that even a list of twenty costs few tokens.
SENTENCE_CHARACTERS = 100
CUT_CHARACTERS = 77
# Characters of the content that a digest is made from.
LOOKED_AT = 20_000

_FENCE = re.compile(r"```.*?(?:```|\Z)|^[ \t]*~~~.*?(?:^[ \t]*~~~+[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")
# "e.g." does not end a sentence, nor does a mark before a lower-case letter.
_SENTENCE = re.compile(
    r".*?(?:(?<!\b\w\.\w)[.!?]+[\"'\u2019\u201d)\]]*(?=\s+(?![a-z])|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*)"
)


def digest_of(title: str, content: str) -> str:
    """The first sentence outside code, on one line, truncated if long; the title if the content has none."""
    return _first_sentence(_FENCE.sub("\n\n", content)[:LOOKED_AT]) or _shortened(_in_one_line(title))


def tokens_of(title: str, content: str) -> int:
    return count_tokens(title) + count_tokens(content)


def _first_sentence(text: str) -> str:
    paragraph = next(filter(None, (block.strip() for block in re.split(r"\n\s*\n", text))), "")
    first_line = paragraph.partition("\n")[0]
    heading = _HEADING.fullmatch(first_line)
    line = _in_one_line(heading[1] if heading else paragraph)
    found = _SENTENCE.match(line[: 2 * SENTENCE_CHARACTERS])
    return _shortened(found[0] if found else line)


def _shortened(sentence: str) -> str:
    if len(sentence) < SENTENCE_CHARACTERS:
        return sentence
    end = CUT_CHARACTERS
    while end > 1 and is_tail(sentence, end):
        end -= 1
    return f"{sentence[:end].rstrip()}…"


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
