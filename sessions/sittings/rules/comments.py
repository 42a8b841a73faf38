"""Removes comments that stand on lines of their own, by the family of the file's language, and blank lines.

Lines inside strings that span lines (templates, here-documents, block scalars) stay as they are, where a
pattern can tell. No pattern goes back over what it has read, so the time grows with the text alone.
"""

import re
from collections.abc import Sequence

from ctxhub.core.text.lazy_patterns import lazy_pattern

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
