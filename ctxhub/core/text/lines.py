"""Splits a text into lines."""


def split_lines(text: str) -> list[str]:
    """The lines of a text. A trailing line break ends the last line; an empty text has no lines."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def with_line_ends_of(text: str, added: str) -> str:
    """What is added to a text, with the line ends that the text has: CRLF if its last line break is one."""
    return added.replace("\r\n", "\n").replace("\n", "\r\n") if line_end_of(text) == "\r\n" else added


def line_end_of(text: str) -> str:
    at = text.rfind("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
