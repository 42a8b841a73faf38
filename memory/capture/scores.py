"""Scores how much a text is worth keeping: four parts and their weighted sum, each 0..1."""

from collections.abc import Iterable, Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.analyser import pieces, runs
from ctxhub.core.search.similarity import COMPARED_CHARACTERS, Rarity, count_words
from ctxhub.core.text.patterns import compiled
from memory.capture.patterns import Pattern, is_list

PATTERN, UNIQUENESS, SPECIFICITY, QUALITY = 0.35, 0.25, 0.25, 0.15
SAVED_ABOVE = 0.65
# Similarity from which two texts count as the same.
DUPLICATE = 0.85
SHINGLE = 4

# A word is rare if at most one of RARE_IN memories has it. With fewer memories, rarity is uncertain.
RARE_IN = 100
SHORT, LONG = 100, 4_000

_HITS = {
    "code": r"`[^`\n]+`|```|~~~|\w\([^)\n]{0,100}\)|[=!<>]=|=>|->",
    "path": r"(?:[\w.@-]+/){2,}|(?:[\w-]+/)+[\w-]+\.\w+|\w\.(?:py|ts|js|md|sql|json|ya?ml|toml|go|rs)\b",
    "number": r"\d",
    "identifier": r"\b(?:[a-z0-9]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Za-z]\w*_\w+|[A-Z]{2,}\w*)\b",
}
# Including the Chinese full stop, exclamation mark and question mark.
_SENTENCE_END = r"[.!?](?:\s|$)|[\x{3002}\x{ff01}\x{ff1f}]"
_STRUCTURE = r"(?m)^ {0,3}#{1,6}[ \t]|^[ \t]*(?:```|~~~)|\S[ \t]*\n[ \t]*\n[ \t]*\S"


@frozen
class Parts:
    pattern: float
    uniqueness: float
    specificity: float
    quality: float

    @property
    def confidence(self) -> float:
        weighted = (
            PATTERN * self.pattern
            + UNIQUENESS * self.uniqueness
            + SPECIFICITY * self.specificity
            + QUALITY * self.quality
        )
        return round(weighted, 4)


def parts_of(text: str, pattern: Pattern, highest_similarity: float, rarity: Rarity) -> Parts:
    """`highest_similarity`: the similarity of the most similar memory."""
    return Parts(pattern.score, 1 - highest_similarity, specificity_of(text, rarity), quality_of(text))


def specificity_of(text: str, rarity: Rarity) -> float:
    """The share of rare words, and a quarter for each of: code, a path, a number, an identifier.

    The share counts half in a project without memories, and fully from RARE_IN memories on.
    """
    read = text[:COMPARED_CHARACTERS]
    words = count_words(read)
    at_most = rarity.total // RARE_IN
    rare = sum(rarity.counts.get(word, 0) <= at_most for word in words) / max(len(words), 1)
    known = min(rarity.total / RARE_IN, 1.0)
    hits = sum(_has(hit, read) for hit in _HITS.values()) / len(_HITS)
    return min(1.0, rare * (0.5 + 0.5 * known) + hits)


def quality_of(text: str) -> float:
    """0.6 for a length of SHORT to LONG characters, less outside that range; plus 0.4 times the structure."""
    length = len(text.strip())
    band = min(length / SHORT, 1.0, LONG / max(length, 1))
    return 0.6 * band + 0.4 * structure_of(text)


def structure_of(text: str) -> float:
    """1.0: paragraphs, a list, a heading or a code fence; 0.5: at least two sentences or lines."""
    read = text[:COMPARED_CHARACTERS].strip()
    if is_list(read) or _has(_STRUCTURE, read):
        return 1.0
    sentences = sum(1 for _ in compiled(_SENTENCE_END).finditer(read))
    return 0.5 if "\n" in read or sentences > 1 else 0.0


def _has(pattern: str, text: str) -> bool:
    return compiled(pattern).search(text) is not None


# -- Duplicates ------------------------------------------------------------------------------------


def words_in_order(text: str) -> list[str]:
    """The words as the index stores them, without the parts of identifiers, which it adds after them."""
    found = (pieces(run.group()) for run in runs(text[:COMPARED_CHARACTERS]))
    return [word for many in found for piece in many for word in piece.words]


def containment(words: Sequence[str], texts: Iterable[str]) -> float:
    """The share of a text's shingles that other texts contain; these are words separated by a space."""
    size = min(SHINGLE, len(words))
    shingles = _windows(words, size)
    found = {window for text in texts for window in _windows(text.split(" "), size) if window in shingles}
    return len(found) / len(shingles) if shingles else 0.0


def _windows(words: Sequence[str], size: int) -> set[tuple[str, ...]]:
    """Each run of `size` consecutive words."""
    return {tuple(words[start : start + size]) for start in range(len(words) - size + 1)} if size else set()
