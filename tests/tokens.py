"""Counts the tokens of a text with the tokenizer itself."""

from collections.abc import Callable
from functools import cache

import bpe_openai


@cache
def _encode() -> Callable[[str], list[int]]:
    """Cached: loading takes as long as a test."""
    encode: Callable[[str], list[int]] = bpe_openai.get_encoding("o200k_base").encode_ordinary
    return encode


def o200k(text: str) -> int:
    return len(_encode()(text))
