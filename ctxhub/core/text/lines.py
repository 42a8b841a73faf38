"""Splits a text into lines."""


def split_lines(text: str) -> list[str]:
    """The lines of a text. A trailing line break ends the last line; an empty text has no lines."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
