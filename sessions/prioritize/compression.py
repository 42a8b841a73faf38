"""Shorter forms of a file's text: without comments and blank lines, and a digest of what it holds."""

import re
from collections.abc import Callable, Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.token_count import count_tokens
from sessions.prioritize import outlines, python_source

DOUBLE = r'"(?:[^"\\\n]++|\\.)*+"?'
SINGLE = r"'(?:[^'\\\n]++|\\.)*+'?"
# Strings that may span lines; one that is never closed goes to the end of the text.
DOUBLE_LINES = r'"(?:[^"\\]++|\\[\s\S])*+"?'
SINGLE_LINES = r"'(?:[^'\\]++|\\[\s\S])*+'?"
SQL_LINES = r"'(?:[^']++|'')*+'?"
TEMPLATE = r"`(?:[^`\\]++|\\[\s\S])*+`?"
RAW_BACKTICKS = r"`[^`]*+`?"
TRIPLES = (
    r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*+(?:""")?',
    r"'''(?:[^'\\]++|\\[\s\S]|'(?!''))*+(?:''')?",
)
RAW_RUST = r'\br(?P<hashes>#*+)"(?:[^"]++|"(?!(?P=hashes)))*+"?'
LUA_LONG = r"\[(?P<equals>=*+)\[(?:[^\]]++|\](?!(?P=equals)\]))*+"
RAW_CPP = r'\bR"(?P<mark>\w*+)\((?:[^)]++|\)(?!(?P=mark)"))*+\)?'
HERE_DOCUMENT = (
    r"(?<!<)<<<?[-~]?[ \t]*+(?P<quote>[\"']?)(?P<word>[A-Z_]\w*+)(?P=quote)[^\n]*+\n"
    r"(?:(?![ \t]*+(?P=word)\b)[^\n]*+\n)*+"
)
DOLLARS = r"\$(?P<tag>\w*+)\$(?:[^$]++|\$(?!(?P=tag)\$))*+(?:\$(?P=tag)\$)?"
# A YAML scalar with "|" or ">" has all lines that are indented deeper than its key.
BLOCK_SCALAR = (
    r"^(?P<indent>[ \t]*+)[^\s#][^\n]*(?<=[:\-?\]\w]\s)[|>][-+0-9]*+[ \t]*+\n"
    r"(?:(?:(?P=indent)[ \t]++[^\n]*+|[ \t]*+)\n)*+"
)
VERBATIM = r"\\begin\{(?P<name>verbatim|lstlisting|minted)\}(?:[^\\]++|\\(?!end\{(?P=name)\}))*+"
PREFORMATTED = r"(?i:<(?P<element>pre|textarea|script|style)\b)(?:[^<]++|<(?!/(?P=element)))*+"
CHARACTER_DATA = r"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+"

HASH = r"(?<![^\s;])#(?!!|include\b|define\b)"
# The start of a comment up to its end, and its end.
Block = tuple[str, str]
C_BLOCK = (r"/\*(?:[^*]++|\*(?!/))*+", r"\*/")
XML_BLOCK = (r"<!--(?!\[if)(?:[^-]++|-(?!->))*+", "-->")
LUA_BLOCK = (r"--\[(?P<level>=*+)\[(?:[^\]]++|\](?!(?P=level)\]))*+", r"\](?P=level)\]")


def _family(line: str, kept: Sequence[str] = (), block: Block = ("", "")) -> re.Pattern[str]:
    """Matches comments on lines of their own as `comment`; strings and other comments as what is kept.

    `line`: the start of a comment that ends with its line. One that ends in a backslash may continue, and is
    kept; so is one in a line that continues another. `block`: a comment with an end of its own; one without
    its end goes to the end of the text.
    """
    opening, end = block
    to_line_end = rf"(?:{line})[^\n]*+" if line else ""
    whole = "|".join(filter(None, [f"{opening}{end}", to_line_end and rf"{to_line_end}(?<!\\)"]))
    # A name stands once in a pattern.
    again = f"{opening}(?:{end})?".replace("level", "level_again") if opening else ""
    rest = "|".join(filter(None, [*kept, again, to_line_end]))
    return lazy_pattern(rf"(?P<comment>(?<!\\\n)^[ \t]*+(?:{whole})[ \t]*+(?:\n|\Z))|{rest}", re.MULTILINE)


_C = _family("//", [*TRIPLES, TEMPLATE, DOUBLE, SINGLE], C_BLOCK)
_HASHES = _family(HASH, [HERE_DOCUMENT, *TRIPLES, DOUBLE, SINGLE])
_FAMILIES = {
    "c h cc cpp cxx hpp": _family("//", [RAW_CPP, DOUBLE, SINGLE], C_BLOCK),
    "js jsx mjs cjs ts tsx java kt kts scala swift dart groovy cs m mm proto scss less zig": _C,
    "go": _family("//", [RAW_BACKTICKS, DOUBLE, SINGLE], C_BLOCK),
    "php": _family("//", [HERE_DOCUMENT, DOUBLE, SINGLE], C_BLOCK),
    "rs": _family("//", [RAW_RUST, DOUBLE_LINES, r"'(?:[^'\\\n]|\\.)'"], C_BLOCK),
    "css": _family("", [DOUBLE, SINGLE], C_BLOCK),
    "sh bash zsh fish": _family(
        HASH, [HERE_DOCUMENT, r"\\.", DOUBLE_LINES, rf"\${SINGLE_LINES}", r"'[^']*+'?"]
    ),
    "nix": _family(HASH, [r"''(?:[^']++|'(?!'))*+(?:'')?", DOUBLE_LINES]),
    "py pyi rb pl pm r ex exs jl ps1 tf toml cfg conf env makefile dockerfile graphql": _HASHES,
    "yaml yml": _family(HASH, [BLOCK_SCALAR, DOUBLE, SINGLE]),
    "ini": _family("[;#]"),
    "sql": _family("--", [DOLLARS, SQL_LINES, DOUBLE], C_BLOCK),
    "lua": _family(r"--(?!\[=*+\[)", [LUA_LONG, DOUBLE, SINGLE], LUA_BLOCK),
    "hs elm": _family(r"--+(?![!#$%&*+./<=>?@\\^|~:])", [r"\{-(?:[^-]++|-(?!\}))*+", DOUBLE]),
    "html htm xml vue svelte svg": _family("", [PREFORMATTED, CHARACTER_DATA], XML_BLOCK),
    "clj cljs el lisp scm rkt asm": _family(";", [r"\\.", DOUBLE_LINES]),
    "tex bib sty cls": _family("%", [VERBATIM, r"\\."]),
    "erl hrl": _family("%", [DOUBLE, SINGLE]),
    "bat cmd": _family(r"(?i:@?rem\b|::)"),
    "vb vbs bas": _family(r"(?i:'|rem\b)", [DOUBLE]),
}
_PATTERNS = {suffix: pattern for suffixes, pattern in _FAMILIES.items() for suffix in suffixes.split()}
# Indented code is left alone, and a comment within a paragraph does not end it.
_MARKDOWN = lazy_pattern(
    rf"(?P<comment>^ {{0,3}}{''.join(XML_BLOCK)}[ \t]*+(?:\n|\Z))"
    r"|^ {0,3}(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)[^\n]*+"
    r"(?:\n(?! {0,3}(?P=fence))[^\n]*+)*+(?:\n {0,3}(?P=fence)[^\n]*+)?"
    rf"|{XML_BLOCK[0]}(?:-->)?",
    re.MULTILINE,
)
_PATTERNS |= dict.fromkeys(("md", "markdown", "mdx"), _MARKDOWN)
# Blanks at the end of a line are values, or part of the format.
AS_THEY_ARE = frozenset({"csv", "tsv", "diff", "patch"})

_TRAILING = lazy_pattern(r"(?<![ \t])[ \t]++(?=\n)")
# Two blanks at the end of a line of Markdown break the line.
_TRAILING_IN_MARKDOWN = lazy_pattern(r"(?<![ \t])(?:[ \t]|(?<=\n)[ \t]++)(?=\n)")
_BLANK_LINES = lazy_pattern(r"\n{3,}")


def without_comments(suffix: str, text: str) -> str:
    """The text without whole-line comments, trailing blanks and runs of blank lines."""
    if suffix in AS_THEY_ARE:
        return text
    trailing = _TRAILING_IN_MARKDOWN if _PATTERNS.get(suffix) is _MARKDOWN else _TRAILING
    pieces = [_without_blanks(piece, trailing) if even else piece for even, piece in _pieces(suffix, text)]
    return "".join(pieces).lstrip("\n")


def _pieces(suffix: str, text: str) -> list[tuple[bool, str]]:
    """Code and strings that span lines, in turn; the code, which is marked True, without comments."""
    pieces: list[tuple[bool, str]] = []
    code: list[str] = []
    at = 0
    for match in _PATTERNS[suffix].finditer(text) if suffix in _PATTERNS else ():
        is_comment = match["comment"] is not None
        if not is_comment and "\n" not in match[0]:
            continue
        code.append(text[at : match.start()])
        at = match.end()
        if not is_comment:
            pieces += [(True, "".join(code)), (False, match[0])]
            code = []
    return [*pieces, (True, "".join([*code, text[at:]]))]


def _without_blanks(code: str, trailing: re.Pattern[str]) -> str:
    return _BLANK_LINES.sub("\n\n", trailing.sub("", code))


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
    return without_comments(suffix, lined) if python is None else python


def _digest(suffix: str, compressed: str) -> str:
    outline = OUTLINES[suffix](compressed) if suffix in OUTLINES else ""
    return outline or outlines.head_and_tail(compressed)


def _shorter(form: str, text: str, tokens: int) -> tuple[str, int]:
    """The form and its tokens; the text itself if the form is blank or no shorter."""
    form_tokens = count_tokens(form)
    return (form, form_tokens) if form.strip() and form_tokens < tokens else (text, tokens)
