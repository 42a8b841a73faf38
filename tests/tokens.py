"""Counts the tokens of a text with the tokenizer itself."""

from collections.abc import Callable
from functools import cache


@cache
def _encode() -> Callable[[str], list[int]]:
    """Cached, and imported at the first count: loading takes as long as a test."""
    import bpe_openai

    encode: Callable[[str], list[int]] = bpe_openai.get_encoding("o200k_base").encode_ordinary
    return encode


def o200k(text: str) -> int:
    return len(_encode()(text))
