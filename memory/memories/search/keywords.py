"""Finds the keywords of a text, spelled as in the text."""

from collections.abc import Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.analyser import Piece, fold, pieces, runs
from ctxhub.core.search.queries import DENSE_WORD
from ctxhub.core.search.similarity import COMPARED_CHARACTERS, Rarity
from ctxhub.core.search.stop_words import STOP_WORDS, SURFACE

KEYWORDS = 10
# A longer run of letters is an id or a hash, not a word.
LONGEST, SHORTEST = 40, 3

_FRENCH = """
afin ainsi alors apres aucun aussi autre autres aux avant avec avoir bien car cela celle celui ces cet cette
ceux chaque chez comme dans depuis des deux dire doit donc dont elle elles encore entre est etait etant ete
etre eux faire fait faut ici ils les leur leurs lors mais meme memes mes mieux moins mon nos notre nous ont ou
par parce pas pendant peu peut plus plusieurs pour pourquoi quand que quel quelle quelles quels qui quoi sans
selon ses son sont sous sur tous tout toute toutes tres trop une vers voici voila vos votre vous
"""
_GERMAN = """
aber alle allem allen aller alles als also andere anderen auch auf aus bei beim bin bis bist das dass dein dem
den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort durch ein eine einem einen
einer eines einige euch euer fur gegen gibt hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer immer ins ist jede jedem jeden jeder jedes jene kann kein keine keinem keinen
keiner konnen konnte machen mal man manche mehr mein meine mich mir mit muss mussen nach nicht nichts noch nun
nur oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind soll sollen sonst uber und uns
unser unsere unter viel vom von vor war waren warum was weil welche welcher wenn wer werden wie wieder will
wir wird wirst wollen wurde wurden zum zur zwar zwischen
"""
FRENCH_AND_GERMAN = frozenset((_FRENCH + _GERMAN).split())
_STOP_WORDS = SURFACE | FRENCH_AND_GERMAN


@frozen
class Keyword:
    """`written`: its first spelling in the text; `stem`: the analyser's word; `weight`: its TF-IDF."""

    written: str
    stem: str
    weight: float


def find_keywords(text: str, rarity: Rarity, at_most: int = KEYWORDS) -> list[Keyword]:
    """The words of the highest TF-IDF, best first: (0.5 + 0.5 * f / max f) times the rarity of the word."""
    counts: dict[str, int] = {}
    written: dict[str, str] = {}
    for run in runs(text[:COMPARED_CHARACTERS]):
        for piece in pieces(run.group()):
            for stem, word in _words(run.group(), piece):
                counts[stem] = counts.get(stem, 0) + 1
                written.setdefault(stem, word)
    most = max(counts.values(), default=1)
    found = [
        Keyword(written[stem], stem, (0.5 + 0.5 * count / most) * rarity.of(stem))
        for stem, count in counts.items()
    ]
    # The sort is stable: words of equal weight keep the order of the text.
    return sorted(found, key=lambda one: -one.weight)[:at_most]


def _words(run: str, piece: Piece) -> Sequence[tuple[str, str]]:
    """Stem and spelling of each word. In scripts without spaces: a short run, else each pair."""
    if piece.is_dense:
        pairs = piece.words[:-1]
        if 1 < len(piece.words) <= DENSE_WORD:
            return [(pairs[0], piece.surface)]
        return [(pair, pair) for pair in pairs]
    is_word = SHORTEST <= len(piece.surface) <= LONGEST and not piece.surface.isdigit()
    if not is_word or not piece.words or piece.words[0] in STOP_WORDS or piece.surface in _STOP_WORDS:
        return []
    return [(piece.words[0], _without_s(run, piece))]


def _without_s(run: str, piece: Piece) -> str:
    """The spelling in the text without a possessive: `Redis's` gives Redis."""
    written = run[: len(piece.surface)]
    return written if fold(written) == piece.surface else piece.surface
