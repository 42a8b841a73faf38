"""Blocks between two markers in the texts of others."""

from __future__ import annotations

import re

MARKDOWN_MARKS = ("<!-- BEGIN CTXHUB v2 -->", "<!-- END CTXHUB -->")

SHELL_MARKS = ("# >>> ctxhub >>>", "# <<< ctxhub <<<")

MARKDOWN_BLOCK = r"<!-- BEGIN CTXHUB[^>]*-->.*?<!-- END CTXHUB -->"

SHELL_BLOCK = "{}.*?{}".format(*SHELL_MARKS)

BLOCK = re.compile(r"[ \t]*(?:{}|{})[ \t]*\n?".format(MARKDOWN_BLOCK, SHELL_BLOCK), re.DOTALL)


def block_of(marks: tuple[str, str], text: str) -> str:
    return "{}\n{}{}\n".format(marks[0], text, marks[1])


def at_start(text: str, block: str) -> str:
    return block + text


def at_end(text: str, block: str) -> str:
    if not text:
        return block
    return text.rstrip("\n") + "\n\n" + block


def after_first_line(text: str, block: str) -> str:
    """After the line that names the shell: a hook may end before its last line."""
    first, newline, rest = text.partition("\n")
    return first + (newline or "\n") + block + rest if first.startswith("#!") else block + text


def trimmed(rest: str, text: str) -> str:
    """Without the empty line that stood before a block at the end."""
    return rest.rstrip("\n") + "\n" if rest != text and text.startswith(rest.rstrip("\n") + "\n\n") else rest
