"""Shorter forms of a file's text: without comments and blank lines, and a digest of what it holds."""

from collections.abc import Callable

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.token_count import count_tokens
from sessions.sittings.rules import comments, outlines, python_source

PYTHON = ("py", "pyi")
OUTLINES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(PYTHON, python_source.signatures),
    **dict.fromkeys(("md", "markdown", "mdx"), outlines.headings),
    "json": outlines.json_keys,
    **dict.fromkeys(("yaml", "yml"), outlines.yaml_keys),
}


@frozen
class ShorterForms:
    """Two shorter forms of a text, with the tokens of each."""

    compressed: str
    compressed_tokens: int
    digest: str
    digest_tokens: int


def shorter_forms(path: str, text: str) -> ShorterForms:
    """Both forms; a form that is no shorter than the text is the text.

    Compressed: without comments, trailing blanks and runs of blank lines. Python compiles to the same syntax
    tree; in other languages only comments on lines of their own are removed. Digest: Python's signatures,
    Markdown's headings, the keys of JSON and YAML, else the first and the last lines.
    """
    suffix, tokens = suffix_of(path), count_tokens(text)
    compressed = _compressed(suffix, text)
    return ShorterForms(
        *_shorter(compressed, text, tokens), *_shorter(_digest(suffix, compressed), text, tokens)
    )


def suffix_of(path: str) -> str:
    """The extension in lower case; of a file without one its name: `makefile`."""
    return path.rpartition("/")[2].lower().rpartition(".")[2]


def _compressed(suffix: str, text: str) -> str:
    lined = text.replace("\r\n", "\n").replace("\r", "\n")
    python = python_source.without_comments(lined) if suffix in PYTHON else None
    return comments.without_comments(suffix, lined) if python is None else python


def _digest(suffix: str, compressed: str) -> str:
    outline = OUTLINES[suffix](compressed) if suffix in OUTLINES else ""
    return outline or outlines.head_and_tail(compressed)


def _shorter(form: str, text: str, tokens: int) -> tuple[str, int]:
    """The form and its tokens; the text itself if the form is blank or no shorter."""
    form_tokens = count_tokens(form)
    return (form, form_tokens) if form.strip() and form_tokens < tokens else (text, tokens)
