"""Counts the tokens of a text in the vocabulary o200k: with an estimate that is not too low, or exactly.

**The estimate** is that of a tokenizer which knows only the more frequent tokens (`token_table.py`), and adds
up the pieces of a text (`token_pieces.py`). It needs nothing installed.

What holds: no answer of the golden files, no text of tests/corpus from 200 characters on, and none of 100,000
answers made of hostile texts (random letters, signs, escapes, controls, base64, emoji, all scripts) counts
less than it costs. It is too high by 3 to 20 % for English, code, ids and rows of the hub, by 14 to 26 % for
Chinese and Japanese, by a fifth to a half for other languages, most for Vietnamese and Georgian.
What does not: a short text alone, which is no answer, may count one token too few, seldom.

It takes 5 microseconds for 500 characters of JSON and 100 for 10 kB of prose whose words it has counted
before; a word that is new takes 2 to 10. See docs/decisions/0008.
"""

from collections.abc import Callable

from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.text.token_pieces import count_pieces, counted_texts

# The most UTF-8 bytes of a character, and so its most tokens.
MOST_BYTES = 4
# Of a token of the vocabulary, a run of blanks.
MOST_CHARACTERS = 128
# A shorter text is soon counted again.
SHORT = 1_000


def count_tokens(text: str) -> int:
    """Return the tokens of a text: the estimate, or, after `use_exact_counts`, the exact count; 0 for "".

    Whatever is fitted into a budget counts in a loop, so a read that takes too long is stopped here.
    """
    checkpoint()
    return _count(text)


def is_within(text: str, max_tokens: int) -> bool:
    """Whether a text costs at most so many tokens. One of as few bytes needs no count, nor a far longer."""
    if len(text) > MOST_CHARACTERS * max_tokens:
        return False
    most = len(text) if text.isascii() else MOST_BYTES * len(text)
    return most <= max_tokens or count_tokens(text) <= max_tokens


def is_estimate() -> bool:
    return _count is _estimate


def use_exact_counts() -> None:
    """Switch to exact counts with the vocabulary itself. Called once at start-up.

    Raises ImportError if the package `bpe_openai` (the extra `tokens`) is not installed.
    """
    global _count
    _count = _exact_counter()


def _estimate(text: str) -> int:
    if len(text) < SHORT:
        return count_pieces(text) if text else 0
    return counted_texts[text]


def _exact_counter() -> Callable[[str], int]:
    import bpe_openai

    encode = bpe_openai.get_encoding("o200k_base").encode_ordinary

    def count(text: str) -> int:
        # The encoder refuses more than 200,000 tokens; 50,000 characters have at most as many bytes.
        return sum(len(encode(text[at : at + 50_000])) for at in range(0, len(text), 50_000))

    return count


_count: Callable[[str], int] = _estimate
