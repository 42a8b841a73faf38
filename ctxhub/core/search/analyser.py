"""The analyser: splits text into index words, alike for both engines, for documents and for queries.

- Width, case and accents are folded (NFKC), English words are stemmed.
- An identifier gives one word and its parts: `user name` finds `getUserName`.
- Scripts without spaces (Chinese, Japanese, Korean, Thai, ...) give each pair of neighbouring characters, and
  the last character alone: two characters are one word, longer runs a phrase, one character a prefix.
- A word has letters and digits only, so no engine can read it as syntax.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.search.stems import stem
from ctxhub.core.text.lazy_patterns import lazy_pattern

WORD_CHARACTERS = 64
CACHED_CHARACTERS = 40
CACHED_TEXT = 4_000

# Marks that belong to the letter before them; Python's \w leaves them out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0966-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e"
    "\u17b4-\u17d3\u3099\u309a"
)
_WORD = rf"(?:[^\W_]|[{_MARKS}])"
_EMOJI = "\U0001f000-\U0001faff\u2600-\u27bf"
# Scripts that put no spaces between words.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# The dense characters that folding never changes, whatever their neighbours are.
_PLAIN = lazy_pattern("[\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*")
_NAMES = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}

_RUN = lazy_pattern(
    rf"(?<!\w)(?:c\+\+|[cf]#(?!\w)|\.net(?!\w))"
    rf"|(?:[^\W_]+|[{_MARKS}]+)+(?:['\u2019](?:s|t|re|ve|ll|d|m)(?!\w))?|[{_EMOJI}]",
    re.IGNORECASE,
)
# The same for ASCII, in half the time.
_ASCII_WORD = "[A-Za-z0-9_]"
_ASCII_RUN = lazy_pattern(
    rf"(?<!{_ASCII_WORD})(?:[cC]\+\+|[cCfF]#(?!{_ASCII_WORD})|\.[nN][eE][tT](?!{_ASCII_WORD}))"
    rf"|[A-Za-z0-9]+(?:'(?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL][lL])(?!{_ASCII_WORD}))?"
)
_SEGMENT = lazy_pattern(rf"(?P<dense>[{_DENSE}]+)|(?P<word>(?:(?![{_DENSE}])(?:{_WORD}|['\u2019]))+)")
_PART = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# JWTs: the stemmer takes an s only where a vowel is before it.
_ACRONYMS = lazy_pattern("(?<=[A-Z]{2})s$")
_ACCENT = lazy_pattern("[\u0300-\u036f]")


@frozen
class Piece:
    """The words of one run of letters: `words` in their order, and the `parts` of identifiers.

    `surface` is the run folded but not stemmed; `is_dense`: of a script without spaces; `spans` are start and
    end of each word within the run. `spelling`: the surface if it has 4 to 30 letters and nothing else.
    """

    surface: str
    words: tuple[str, ...]
    parts: tuple[str, ...]
    is_dense: bool
    spans: tuple[tuple[int, int], ...]
    spelling: str = ""


def runs(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the runs of characters that contain words; `start` and `end` must not be within one."""
    return _run_pattern(text).finditer(text, start, len(text) if end is None else end)


def _run_pattern(text: str) -> re.Pattern[str]:
    return _ASCII_RUN if text.isascii() else _RUN


def pieces(run: str) -> Sequence[Piece]:
    """Split a run into pieces: several if it mixes scripts."""
    return _cached_pieces(run) if len(run) <= CACHED_CHARACTERS else _pieces(run)


def analyse(text: str) -> list[str]:
    """Return all words of a text in their order, then the parts of its identifiers."""
    return [*_analysis(text)[0]]


def surface_words(text: str) -> Set[str]:
    """Return the unstemmed words of 4 to 30 letters, for spelling correction."""
    return _analysis(text)[1]


Analysis = tuple[Sequence[str], Set[str]]
"""The words of a text, and its surface words."""


def _analysis(text: str) -> Analysis:
    checkpoint()
    return _cached_analysis(text) if len(text) <= CACHED_TEXT else _analyse(text)


@lru_cache(64)
def _cached_analysis(text: str) -> Analysis:
    """The index asks first for the words of a text, then for its surface words."""
    return _analyse(text)


def _analyse(text: str) -> Analysis:
    words: list[str] = []
    parts: list[str] = []
    spellings: set[str] = set()
    # One match a step, so that other threads go on: `findall` held them up for 0.1 s a mebibyte.
    for match in _run_pattern(text).finditer(text):
        run_words, run_parts, run_spellings = _words_of(match[0])
        words += run_words
        parts += run_parts
        spellings.update(run_spellings)
    spellings.discard("")
    return words + parts, spellings


def _words_of(run: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Words, parts and spellings of a run."""
    return _cached_words(run) if len(run) <= CACHED_CHARACTERS else _words_of_pieces(run)


@lru_cache(100_000)
def _cached_words(run: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Plain tuples of strings, which the garbage collector does not track: it held all calls up for 0.2 s."""
    return _words_of_pieces(run)


def _words_of_pieces(run: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    found = _pieces(run)
    if len(found) == 1:
        return found[0].words, found[0].parts, (found[0].spelling,)
    return (
        tuple(word for piece in found for word in piece.words),
        tuple(part for piece in found for part in piece.parts),
        tuple(piece.spelling for piece in found),
    )


def _spelling(surface: str) -> str:
    return surface if 4 <= len(surface) <= 30 and surface.isalpha() else ""


@lru_cache(10_000)
def _cached_pieces(run: str) -> tuple[Piece, ...]:
    return tuple(_pieces(run))


def _pieces(run: str) -> list[Piece]:
    if name := _NAMES.get(run.lower()):
        return [Piece(name, (name,), (), False, ((0, len(run)),), _spelling(name))]
    if run.isascii():
        return [_word(run, 0, len(run))]
    plain = unicodedata.normalize("NFKC", run)
    # If folding changes the length of a character, the span of each word is the whole run.
    keeps_offsets = plain == run or plain == "".join(_folded_alone(char) for char in run)
    found = []
    for match in _SEGMENT.finditer(plain):
        start = match.start() if keeps_offsets else None
        piece = (
            _dense(match.group(), start, len(run))
            if match["dense"]
            else _word(match.group(), start, len(run))
        )
        if piece.words:
            found.append(piece)
    return found or _symbol(run)


def _dense(segment: str, start: int | None, length: int) -> Piece:
    pairs = tuple(segment[n : n + 2] for n in range(len(segment)))
    spans = tuple(
        (0, length) if start is None else (start + n, start + n + len(pair)) for n, pair in enumerate(pairs)
    )
    words = pairs if _PLAIN.fullmatch(segment) else tuple(fold(pair) for pair in pairs)
    return Piece(segment, words, (), True, spans)


def _word(text: str, start: int | None, length: int) -> Piece:
    segment = _ACRONYMS.sub("", text)
    surface = fold(
        re.sub(r"['\u2019]s$", "", segment, flags=re.IGNORECASE).replace("'", "").replace("\u2019", "")
    )
    surface = surface[:WORD_CHARACTERS]
    span = (0, length) if start is None else (start, start + len(text))
    cased = _PART.findall(segment) if segment.isascii() else []
    parts = tuple(stem(part.lower()[:WORD_CHARACTERS]) for part in cased if len(part) > 1 and part.isalpha())
    is_compound = len(cased) > 1 and "'" not in segment
    return Piece(
        surface,
        (stem(surface),) if surface else (),
        parts if is_compound else (),
        False,
        (span,) if surface else (),
        _spelling(surface),
    )


def _folded_alone(char: str) -> str:
    """Fold one character by itself; "" if that gives several."""
    folded = unicodedata.normalize("NFKC", char)
    return folded if len(folded) == 1 else ""


def _symbol(run: str) -> list[Piece]:
    if len(run) != 1 or run.isalnum():
        return []
    name = f"u{ord(run):x}"
    return [Piece(name, (name,), (), False, ((0, 1),))]


def fold(text: str) -> str:
    """Remove case and accents: é and É become e. Marks of other scripts stay, as they are letters there."""
    if text.isascii():
        return text.lower()
    unaccented = _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold()))
    folded = unicodedata.normalize("NFKC", unaccented)
    return folded if folded.isalnum() else "".join(re.findall(f"{_WORD}", folded))
