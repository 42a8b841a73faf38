"""Compares keys by their words, in any order, and their common path; signatures find similar ones."""

import base64
import hashlib
from collections.abc import Sequence
from functools import lru_cache

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import Words, long_form, meanings
from ctxhub.core.search.analyser import Piece, fold, pieces, runs

PREFIX = 4  # Signatures use this many letters of a word: auth also matches authentication.
MAX_WORDS = 8  # Longer keys have no signatures with one word omitted.
HASH_BYTES, TERM_LENGTH = 5, 5  # The index keeps 25 of the 40 bits.

WeightedWord = tuple[str, float]


@frozen
class KeyWords:
    """The words of a key, each with its weight, and its segments: case-folded, and as they are written.

    The last segment weighs as much as the whole path before it; the weights add up to 1. `exact`: the words
    that no typo and no abbreviation stands for, such as numbers.
    """

    words: tuple[WeightedWord, ...]
    exact: frozenset[str]
    segments: tuple[str, ...]
    written: tuple[str, ...]


@lru_cache(10_000)
def key_words(key: str) -> KeyWords:
    written = tuple(segments_of(key))
    *path, leaf = [_segment_words(segment) for segment in written] or [()]
    path_words = [word for words in path for word in words]
    share = 0.5 if path_words and leaf else 1.0
    weighted = [(word, share / len(words)) for words in (path_words, leaf) for word in words]
    exact = frozenset(word for word, _ in weighted if not (word.isalpha() or meanings(word)))
    return KeyWords(tuple(weighted), exact, tuple(fold(segment) for segment in written), written)


def segments_of(key: str) -> list[str]:
    return [segment for segment in key.split("/") if segment.strip()]


@lru_cache(10_000)
def _segment_words(segment: str) -> tuple[str, ...]:
    found = (_words_of(piece) for run in runs(segment) for piece in pieces(run.group()))
    return tuple(word for words in found for word in words)


def _words_of(piece: Piece) -> Sequence[str]:
    """Return the parts of an identifier; with a number the whole, as the parts omit numbers."""
    if piece.is_dense:
        return piece.words[:-1] or piece.words
    has_number = any(character.isdigit() for character in piece.surface)
    return piece.parts if piece.parts and not has_number else piece.words


@frozen
class Signatures:
    """Hashes of words in any order: of all words of a key, None if it has none; and of all but each one.

    A key with the same words has the same `whole`, one with a word less has it among our `shorter`, and one
    with a word more has ours among its own.
    """

    whole: int | None = None
    shorter: tuple[int, ...] = ()


@lru_cache(10_000)
def signatures(key: str) -> Signatures:
    words = _prefixes(key)
    if not words:
        return Signatures()
    return Signatures(_hash(words), tuple(_hash(subset) for subset in _one_omitted(key, words)))


def whole_signature(key: str) -> int | None:
    """What the row of a key keeps."""
    return signatures(key).whole


@lru_cache(10_000)
def index_terms(key: str) -> Sequence[str]:
    """What the index keeps of a key. Nothing reads the first any more; the index of an older hub has it."""
    own = signatures(key)
    if own.whole is None:
        return []
    return [f"W{_short(own.whole)}", *map(shorter_term, own.shorter)]


def shorter_term(signature: int) -> str:
    """The term of those keys which have this signature among their `shorter`."""
    return f"O{_short(signature)}"


def _short(signature: int) -> str:
    return base64.b32encode(signature.to_bytes(HASH_BYTES)).decode()[:TERM_LENGTH]


def _one_omitted(key: str, words: Sequence[str]) -> list[list[str]]:
    """Return the words without each one in turn, but keep the only word of the last segment."""
    if not 1 < len(words) <= MAX_WORDS:
        return []
    leaf = _prefixes(segments_of(key)[-1])
    kept = leaf[0] if len(leaf) == 1 else None
    return [[word for word in words if word != omitted] for omitted in words if omitted != kept]


def _prefixes(key: str) -> list[str]:
    """Return the distinct words of a key, expanded and cut to a prefix; words with digits stay whole."""
    words = {long_form(word) for word, _ in key_words(key).words}
    return sorted({word[:PREFIX] if word.isalpha() else word for word in words})


def _hash(words: Sequence[str]) -> int:
    """Hash words to 40 bits. Collisions are harmless: candidates are compared afterwards."""
    return int.from_bytes(hashlib.blake2s(" ".join(words).encode(), digest_size=HASH_BYTES).digest())


WORD_WEIGHT, PATH_WEIGHT = 0.9, 0.1
MIN_ABBREVIATION = 4  # auth abbreviates authentication; log does not abbreviate login.
ABBREVIATION_SCORE, MIN_LETTER_SIMILARITY = 0.8, 0.8
# A key and a key below it (`api/auth` and `api/auth/method`) score less than this at any depth.
SAME_SCORE = 0.78
NO_WORD = ("", 0.0)
COMPARED = 12  # At most so many differing words of each key are compared letter by letter.


@frozen
class Similarity:
    """The result of a comparison: `score` 0..1, and the common `path` as the other key writes it.

    `is_parallel`: each key has a word that the other lacks, so they name different things (`db/pool-size`,
    `db/pool-age`).
    """

    score: float
    path: str = ""
    is_parallel: bool = False

    @property
    def is_same(self) -> bool:
        """Whether the keys may mean the same: nearly all words of one are in the other."""
        return self.score >= SAME_SCORE and not self.is_parallel


def are_alike(one: str, other: str) -> bool:
    """Whether two keys are worth comparing: False if each has a number that the other lacks.

    Most neighbours of a new key differ so, and this costs a tenth of the comparison. Their words would be
    parallel.
    """
    first, second = key_words(one).exact, key_words(other).exact
    return first <= second or second <= first


def compare_keys(one: str, other: str) -> Similarity:
    """Compare two keys. Score: 0.9 times their words plus 0.1 times the share of common path segments.

    A pair of equal words counts the mean of its weights; an abbreviation 0.8 of that, a typo 0.8 or more.
    """
    first, second = key_words(one), key_words(other)
    word_score, is_parallel = _match_words(first.words, second.words)
    depth = _shared_depth(first.segments, second.segments)
    score = WORD_WEIGHT * word_score + PATH_WEIGHT * depth / max(len(first.segments), len(second.segments), 1)
    return Similarity(score, "/".join(second.written[:depth]), is_parallel)


def _match_words(first: Sequence[WeightedWord], second: Sequence[WeightedWord]) -> tuple[float, bool]:
    """Return the summed weight of matching words, and whether both sides have unmatched words."""
    score = 0.0
    left: list[WeightedWord] = []
    right = list(second)
    for pair in first:
        for other in right:
            if other[0] == pair[0]:
                right.remove(other)
                score += (pair[1] + other[1]) / 2
                break
        else:
            left.append(pair)
    # A new key is compared with some thirty others, nearly all of which differ in words that are not alike.
    for word, weight in left[:COMPARED] if right else ():
        similarity, nearest = _nearest(word, right[:COMPARED])
        if similarity:
            right.remove(nearest)
            left.remove((word, weight))
            score += similarity * (weight + nearest[1]) / 2
    return score, bool(left and right)


def _nearest(word: str, others: Sequence[WeightedWord]) -> tuple[float, WeightedWord]:
    """Return the most similar of other words, with its similarity; 0: none is similar."""
    forms = meanings(word)
    best = 0.0, NO_WORD
    if forms or word.isalpha():
        for other in others:
            if similarity := _word_similarity(word, other[0], forms):
                best = max(best, (similarity, other))
    return best


def _word_similarity(one: str, other: str, forms: Sequence[Words]) -> float:
    """Compare two different words: 0.8 or more for an abbreviation or a typo, else 0. Numbers must match.

    `forms`: the meanings of the first.
    """
    from rapidfuzz.distance import OSA

    if forms and (other,) in forms:
        return ABBREVIATION_SCORE
    if not (one.isalpha() and other.isalpha()):
        return 0.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) >= MIN_ABBREVIATION and long.startswith(short):
        return ABBREVIATION_SCORE
    return OSA.normalized_similarity(one, other, score_cutoff=MIN_LETTER_SIMILARITY)


def _shared_depth(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of leading segments that two paths have in common."""
    depth = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        depth += 1
    return depth
