"""Python source: without its comments, and the signatures of its classes and functions."""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence

# The compiler warns of escapes that it does not know: the file's author wants to hear that, the hub does not.
FILE = "<tracked file>"
warnings.filterwarnings("ignore", module=re.escape(FILE))
# Longer source is treated as text: the tree of a mebibyte takes seconds and half a gigabyte.
MOST_CHARACTERS = 131_072
HEADER_CHARACTERS = 300
LINE_CHARACTERS = 200
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse(text: str) -> ast.Module | None:
    """The syntax tree; None for what does not parse, is nested too deep or too long."""
    if len(text) > MOST_CHARACTERS:
        return None
    try:
        return ast.parse(text, FILE)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# -- Comments --------------------------------------------------------------------------------------


def without_comments(text: str) -> str | None:
    """The source without comments, trailing blanks and runs of blank lines; None if it does not parse.

    It compiles to the same syntax tree: docstrings and other strings stay as they are.
    """
    if parse(text) is None:
        return None
    try:
        comments, strings = _comments_and_strings(text)
    except (SyntaxError, tokenize.TokenError):
        return None
    lines = text.split("\n")
    kept: list[str] = []
    is_blank = True
    for row, line in enumerate(lines, start=1):
        if row in strings or (row > 1 and lines[row - 2].endswith("\\")):
            kept.append(line)
            is_blank = False
            continue
        code = line[: comments.get(row)].rstrip(" \t")
        if code or not (is_blank or row in comments):
            kept.append(code)
            is_blank = not code
    return "\n".join(kept)


def _comments_and_strings(text: str) -> tuple[dict[int, int], set[int]]:
    """The column of each comment by its row, and the rows that strings reach over the end of, or end in.

    Comments inside strings with fields are left alone.
    """
    comments: dict[int, int] = {}
    strings: set[int] = set()
    openings: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            openings.append(token.start[0])
        elif kind in ("FSTRING_END", "TSTRING_END"):
            _add_rows(strings, openings.pop(), token.end[0])
        elif kind == "STRING":
            _add_rows(strings, token.start[0], token.end[0])
        elif kind == "COMMENT" and not openings and not token.string.startswith("#!"):
            comments[token.start[0]] = token.start[1]
    return {row: column for row, column in comments.items() if row not in strings}, strings


def _add_rows(rows: set[int], first: int, last: int) -> None:
    if last > first:
        rows.update(range(first, last + 1))


# -- Signatures ------------------------------------------------------------------------------------


def signatures(text: str) -> str:
    """The headers of classes and functions with the first lines of their docstrings; "" if there are none."""
    try:
        tree = parse(text)
        found = list(_signatures(tree.body, text.split("\n"), "")) if tree else []
    except (RecursionError, MemoryError):
        return ""
    module = _first_line(ast.get_docstring(tree, clean=False)) if tree else ""
    return "\n".join([module, *found] if module else found) if found else ""


def _signatures(body: Sequence[ast.AST], lines: Sequence[str], indent: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, Definition):
            doc = _first_line(ast.get_docstring(node, clean=False))
            yield f"{indent}{_header(node, lines)}{f' {doc}' if doc else ''}"
        if isinstance(node, ast.ClassDef):
            yield from _signatures(node.body, lines, f"{indent}    ")
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            inner = [part for name in node._fields if isinstance(part := getattr(node, name), list)]
            yield from _signatures([statement for part in inner for statement in part], lines, indent)


def _header(node: Definition, lines: Sequence[str]) -> str:
    """From `def` or `class` to its colon, on one line."""
    first = node.body[0]
    marked = first.decorator_list[0] if isinstance(first, Definition) and first.decorator_list else first
    end_row, end_column = marked.lineno, marked.col_offset
    rows = list(lines[node.lineno - 1 : min(end_row, node.lineno + HEADER_CHARACTERS)])
    if len(rows) == end_row - node.lineno + 1:
        rows[-1] = rows[-1].encode()[:end_column].decode()
    header = " ".join(" ".join(rows).split()).removesuffix("@").rstrip(" \\")
    return header if len(header) <= HEADER_CHARACTERS else f"{header[:HEADER_CHARACTERS]}…"


def _first_line(docstring: str | None) -> str:
    lines = (docstring or "").strip().split("\n", 1)
    return f'"""{lines[0].strip()[:LINE_CHARACTERS]}"""' if lines[0] else ""
