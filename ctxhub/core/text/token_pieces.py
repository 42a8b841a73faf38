"""Counts the tokens of a text as the sum of its pieces, which recur, and are remembered.

A piece is what lies between two blanks, or in JSON between two quotes. It is split further where the
vocabulary splits texts: into words, up to three digits, runs of signs, and white space. Each of these is
merged from its characters in the order of the ranks, as a tokenizer does it, with the tokens that the table
has. A token that the table lacks stays in several parts. So a piece counts as many tokens as the vocabulary
needs, or more.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from operator import add

from ctxhub.core.kit.read_limit import checkpoint
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.token_table import FIRST_LEVEL, NO_RANK, token_table

# Longer texts are not split into pieces first. Of their different words, only so many characters are merged,
# so that 1 MiB of random letters takes no longer than 1 MiB of words.
LONG_TEXT = 32_768
# Of the pieces that are remembered.
LONGEST_PIECE = 32
# In JSON instead of the escapes of a quote, which would separate pieces, and of a backslash. A text that has
# these characters is not split at quotes.
QUOTE, BACKSLASH = "\x01", "\x02"
ESCAPES = {ord(QUOTE): '\\"', ord(BACKSLASH): "\\\\"}
OTHER_CONTROLS = {ord(QUOTE): "\x03", ord(BACKSLASH): "\x04"}
# What is not ASCII counts as a letter. Signs among it are not merged with letters, as no token has both.
LETTERS = r"\x80-\U0010ffff"
WHITE = r"[\t-\r ]"
SIGN = r"[\x00-\x08\x0e-\x1f!-/:-@\[-`{-\x7f]"
# A blank; or a sign, unless another sign is before it, which is seen here only outside ASCII.
BEFORE_WORD = r"(?: |(?<![^\x00-\x7f\w])[\x00-\t\v\f\x0e-\x1f!-/:-@\[-`{-\x7f])?"
# Longer words are merged in parts; so are runs of signs and of blanks.
MANY, ANY = "{1,64}+", "{0,64}"
ENDING = "(?:'(?:[stmd]|re|ve|ll|[STMD]|RE|VE|LL))?"
_words_in = lazy_pattern(
    rf"[0-9]{{1,3}}|{BEFORE_WORD}(?:[A-Z]{ANY}+[a-z{LETTERS}]{MANY}|[A-Z]{MANY}){ENDING}"
    rf"| ?{SIGN}{MANY}[\r\n/]{ANY}|{WHITE}{ANY}[\r\n]{MANY}|{WHITE}{{1,64}}(?![^\t-\r ])|{WHITE}{MANY}"
)
# The hub's own moments, of which most are new.
_time = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
TIME_LENGTH, TIME_TOKENS = 20, 13
_blanks = lazy_pattern(" {2,64}")
# Marks that belong to a letter are signs where none is before them.
_signs = lazy_pattern(rf"(?:{SIGN}|[^\x00-\x7f\w])+")


class Counted(dict[str, int]):
    """What `count` gave for texts. Begins anew when it is full."""

    def __init__(self, count: Callable[[str], int], *, most: int, longest: int) -> None:
        super().__init__()
        self.count, self.most, self.longest = count, most, longest

    def __missing__(self, text: str) -> int:
        tokens = self.count(text)
        if len(text) <= self.longest:
            if len(self) >= self.most:
                self.clear()
            self[text] = tokens
        return tokens

    def sum_of(self, texts: Iterable[str]) -> int:
        return sum(map(self.__getitem__, texts))


def count_pieces(text: str) -> int:
    """The tokens of a text that is not empty."""
    if len(text) > LONG_TEXT:
        return _count_long(text)
    if QUOTE in text or BACKSLASH in text:
        return _count_plain(text.translate(OTHER_CONTROLS))
    if text[0] not in "{[":
        return _count_plain(text)
    return _count_json(text.replace("\\\\", BACKSLASH).replace('\\"', QUOTE) if "\\" in text else text)


def _count_json(text: str) -> int:
    """Count the texts between quotes; and what is between those, with the quotes."""
    pieces = text.split('"')
    if len(pieces) == 1:
        return _count_piece(text)
    ends = _pieces[pieces[0] + '"'] + (_pieces['"' + pieces[-1]] if len(pieces) % 2 else 0)
    return ends + _between_texts.sum_of(pieces[2:-1:2]) + _texts.sum_of(pieces[1::2])


def _count_text(text: str) -> int:
    """A text that stood between quotes. Signs at its beginning belong to the quote, not to the first word.

    One more for signs at either end, which may be split in another way together with the quote. Not for a
    full stop after a word: with a quote and a comma it is one token as well.
    """
    if not text:
        return 0
    if len(text) == TIME_LENGTH and _time.fullmatch(text):
        return TIME_TOKENS
    at_end = not text[-1].isalnum() and not (text[-1] in ".…" and text[-2:-1].isalnum())
    if text[0].isalnum() or text[0] == " ":
        return at_end + (_count_plain(text) if " " in text else _pieces[text])
    signs = _signs.match(text)
    end = signs.end() if signs else 0
    return at_end + 1 + _count_piece(text[:end]) + _count_plain(text[end:])


def _count_plain(text: str) -> int:
    """Count the pieces, each with the blank before it. Of several blanks, the others are one token."""
    runs = 0
    if "  " in text:
        text, runs = _blanks.subn(" ", text)
    pieces = text.split(" ")
    first = _pieces[pieces[0]]
    del pieces[0]
    return runs + first + sum(map(_after_blank.__getitem__, pieces))


def _count_piece(piece: str) -> int:
    if not piece.isprintable():
        piece = piece.translate(ESCAPES)
    words = _words_in.findall(piece)
    # What is one word is remembered as a piece, and not once more as a word.
    if len(words) == 1 and len(piece) < LONGEST_PIECE:
        return _count_word(words[0])
    return _words.sum_of(words)


def _count_long(text: str) -> int:
    words = Counter[str]()
    for at in range(0, len(text), LONG_TEXT):
        checkpoint()
        words.update(_words_in.findall(text[at : at + LONG_TEXT]))
    left, tokens = LONG_TEXT, 0
    for word, times in words.items():
        left -= len(word)
        tokens += times * (_words[word] if left >= 0 else len(word.encode("utf-8", "surrogatepass")))
    return tokens


def _count_word(word: str) -> int:
    return 1 if _is_token(word) else _merge(word)


def _is_token(word: str) -> bool:
    return (word.isascii() and word.isdigit()) or token_table().rank(word) != NO_RANK


def _merge(word: str) -> int:
    """Join the neighbours of the lowest rank, as long as there are any, and count what is left.

    One more wherever a part could be joined to either neighbour, since ranks of a level are not told apart;
    and for characters of several tokens, since bytes of two characters may be joined.
    """
    rank, parts, doubts = _ranks.__getitem__, list(word), 0
    ranks = list(map(rank, map(add, parts, parts[1:])))
    while ranks and (lowest := min(ranks)) != NO_RANK:
        at = ranks.index(lowest)
        del ranks[at]
        doubts += lowest >= FIRST_LEVEL and lowest in ranks[at : at + 1]
        joined = parts[at] = parts[at] + parts.pop(at + 1)
        if at:
            ranks[at - 1] = rank(parts[at - 1] + joined)
        if at < len(ranks):
            ranks[at] = rank(joined + parts[at + 1])
    tokens = [_characters[part] if len(part) == 1 else 1 for part in parts]
    if sum(tokens) - len(tokens) < 2:
        return sum(tokens) + doubts
    return min(sum(tokens) + doubts + 1, len(word.encode("utf-8", "surrogatepass")))


# Words share most of the pairs that they are merged from, and finding a rank takes 0.7 us.
_ranks = Counted(lambda piece: token_table().rank(piece), most=8_192, longest=16)
_characters = Counted(lambda char: token_table().tokens_of_character(char), most=8_192, longest=1)
_words = Counted(_count_word, most=8_192, longest=200)
_pieces = Counted(_count_piece, most=4_096, longest=LONGEST_PIECE)
_after_blank = Counted(lambda piece: _count_piece(f" {piece}"), most=32_768, longest=LONGEST_PIECE)
_between_texts = Counted(lambda piece: _count_piece(f'"{piece}"'), most=1_024, longest=LONGEST_PIECE)
_texts = Counted(_count_text, most=1_024, longest=512)
# An answer is counted more than once.
counted_texts = Counted(count_pieces, most=16, longest=LONG_TEXT)
