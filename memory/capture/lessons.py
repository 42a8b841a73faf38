"""Tells lessons ("pytest hangs when X is set; unset it") from chatter ("I'll have a look after lunch").

A lesson has, in one or two sentences, two of three things: what to do, what goes wrong, and a condition; all
three if the sentences are also chatter. Chatter is about the speakers: their plans, thanks and day. Words of
English, French, German and Chinese, and the most common of Spanish, Russian and Japanese. RE2: linear in the
text.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ctxhub.core.text.patterns import compiled

# A lesson is within the first READ characters, in sentences of at most LONGEST.
READ, LONGEST = 4_000, 600
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])\s*")

# Words; a space inside one is written "_", an apostrophe "'".
_RULES = """
always never must has_to have_to needs? need_to requires? required make_sure be_sure remember_to avoid
don't do_not cannot can't only_works? works_only only_if only_with instead_of rather_than should_be
should_not the_fix the_solution workaround ensure prevents? fixes solves avoids
toujours jamais il_faut ne_pas doit doivent penser_à éviter veiller_à plutôt_que
muss müssen immer nie niemals darf dürfen statt anstatt vermeiden unbedingt reicht_nicht nur_mit nur_wenn
nur_dann
hay_que siempre nunca debe evitar нужно надо всегда никогда нельзя
"""
_ORDERS = """
use set unset run add install raise lower increase decrease convert delete remove drop restart upgrade
pin call give write ask check cancel close open send store create clear import export enable disable
switch replace rebuild regenerate keep wait pass start stop rename quote escape prefer key load fetch
merge rebase patch move copy put
"""
_FOREIGN_ORDERS = """
utiliser installer vider augmenter réduire découper ajouter supprimer relancer redémarrer renouveler
setzen verwenden erhöhen anlegen aufrufen abfragen leeren schreiben löschen installieren starten
"""
_FAILURES = r"""
hang hangs hung fail\pL* break breaks broke broken crash\pL* stops? stopped stall\pL* times?_out
timeouts? refus\pL* reject\pL* ignor\pL* skip skips skipped drops dropped los(?:es|t|ing) block(?:s|ed)
dies? died destroy\pL* leak\pL* double[sd]? twice duplicat\pL* overwr\pL* errors? raises recurs\pL*
corrupt\pL* expire[sd]? truncat\pL* cut_off missing empty undefined wrong\pL* slow\pL* lock(?:s|ed)
silent\pL* stale flaky race denied doesn't does_not isn't is_not aren't are_not nothing exceed\pL*
out_of_(?:memory|space|range|date|sync) deadlock\pL* unreadable invalid bugs? root_cause used_up
rewrit\pL* overrid\pL* differs?
(?:take|took|takes)_[\pL\pN.]+_(?:seconds|minutes|hours|days)
échou\pL* plant(?:e|ent|é) erreurs? bloqu\pL* expir\pL* dispara\pL* s'arrête\pL* perd\pL* vides? blanche
lent\pL*
reste_\pL+ n'\pL+_pas
réinitialis\pL* supprimé\pL* écrasé\pL*
zurückgesetzt gelöscht geleert überschrieben
häng\pL* \pL*brich\pL* schläg\pL* fehl\pL* gesperrt ursache dauert scheiter\pL* langsam verlier\pL*
verloren
falla\pL* errores ошибк\pL* зависа\pL* пада\pL*
"""
_CONDITIONS = r"""
if when whenever unless until because since otherwise once after before as_soon_as so_that therefore
even_if without due_to or_else in_case so caused_by came_from comes_from turned_out meant_that
behind on_(?:windows|macos|linux|arm|alpine) in_(?:ci|docker|production|containers?)
si quand sinon avant après car parce_que puisque sans_quoi faute_de_quoi pour_que à_cause lorsque
c'est_que chaque_(?:nuit|jour|heure|matin|soir|semaine|mois)
jede[nrs]?_(?:nacht|tag|stunde|morgen|abend|woche|monat)
wenn falls sobald sonst vor nach weil denn deshalb daher ohne damit also solange unter
antes_de si_no cuando porque перед если иначе когда потому
"""
_CHATTER = """
i'm i'll i've i'd let_me let's thanks thank_you sorry haha\\pL* lol wow congrat\\pL* sounds_good
no_worries see_you lunch coffee weekend tomorrow today yesterday next_week you_all you're
je j'\\pL+ moi mon mes vous tu toi merci bonjour désolé bravo d'accord demain déjeuner semaine week-end
ich mir mich mein\\pL* ihr euch danke guten_morgen wenn_du hast_du kannst_du bist_du kaffee essen grüße
jemand\\pL* leider urlaub wochenende heute gestern
gracias hola espero спасибо доброе_утро привет надеюсь
"""
_GREETINGS = "hi hello hey good_morning welcome great cool perfect nice ok okay alright done well yes no"


def _one_of(words: str) -> str:
    return "|".join(word.replace("_", " ").replace("'", "['\u2019]") for word in words.split())


def _any(words: str, after: str = r"[^\pL\pN]|$") -> str:
    return rf"(?:^|[^\pL\pN])(?:{_one_of(words)})(?:{after})"


# What is not there any more afterwards, or not as it was, again and again: "is reset every night".
_LOSSES = """
reset wiped purged deleted dropped truncated recreated rebuilt overwritten restored rotated restarted flushed
evicted pruned archived redeployed reimaged re-created revoked disabled erased emptied removed recycled
scaled_down shut_down killed regenerated reseeded re-seeded cleared
"""
_TIMES = r"""
(?:every|each)_(?:[\pL\pN]+_)?(?:night|day|hours?|minutes?|morning|evening|week|month|deploy\pL*|release|restart|job|run|\pL+day)
(?:hour|dai|week|month)ly nightly on_\pL+days
"""
_LOST = (
    rf"(?:^|[^\pL\pN])(?:is|are|gets?|will be|being)[ \t]+(?:\pL+ly[ \t]+)?"
    rf"(?:{_one_of(_LOSSES)})(?:[^\pL\pN]|$)"
)
_LOST_OFTEN = rf"{_LOST}(?:[^.;\n]{{0,60}}[^\pL\pN])?(?:{_one_of(_TIMES)})(?:[^\pL\pN]|$)"
# Errors as programs name them.
_ERROR_NAMES = """
ECONN[A-Z]+ ETIMEDOUT ENOENT EACCES EPERM EADDR[A-Z]+ EPIPE EMFILE ENFILE EEXIST EBUSY EINVAL EAGAIN
EHOSTUNREACH ENETUNREACH ENOTFOUND ENOSPC ENOMEM EISDIR ENOTDIR ENOTEMPTY EXDEV ERESOLVE
SIG(?:KILL|SEGV|TERM|ABRT|BUS|PIPE) HTTP_[45]\\d\\d [A-Z]\\w*(?:Error|Exception)
"""
_ERRORS = rf"(?:^|[^\pL\pN_])(?-i:{_one_of(_ERROR_NAMES)})(?:[^\pL\pN_]|$)"
_ACTS = "setting using adding removing pinning raising lowering passing disabling enabling"
# An order at the start of a sentence or clause. Foreign ones, which may stand at its end, match anywhere.
_ORDER = rf"(?:^|[.;:,!?)]\s+|\b(?:then|and|or)\s+)(?:{_one_of(_ORDERS)})(?:[^\pL\pN]|$)"
# "To regenerate the schema run ...", "Setting X stops ...".
_WAY = rf"^\s*to\s+\pL+[^.;]{{1,100}}[ ,](?:{_one_of(_ORDERS)})\s|^\s*(?:{_one_of(_ACTS)})\s"
# The same of what goes wrong: it says what it is for.
_REMEDY = (
    r"^\s*to\s+(?:fix|solve|avoid|prevent|stop|silence|cure|work around|get rid of)\s+"
    rf"[^.;]{{1,100}}[ ,](?:{_one_of(_ORDERS)})\s"
)
_SIGNS = (
    "|".join(
        (
            _any(_RULES + _FOREIGN_ORDERS),
            _ORDER,
            _WAY,
            "必須|必须|一定要|務必|务必|不要|別|别|不能|不可|只能|需要|要先|先|改用|改成|改為|換成|换成|記得|记得|應該|应该",
            "即可|就好|設成|设成|設為|设为|調大|调大|調到|调到|必ず|こと。|てから|直る",
        )
    ),
    "|".join(
        (
            _any(_FAILURES),
            _LOST,
            _ERRORS,
            _REMEDY,
            "重置|清空|覆蓋|覆盖",
            "失敗|失败|報錯|报错|錯誤|错误|逾時|超时|當掉|崩溃|崩潰|卡住|重复|重複|丢失|遺失|無法|无法|不會|不会|不了|清掉|用完",
            "原因|不對|不对|會被|会被|就会|就會|エラー",
        )
    ),
    "|".join(
        (
            _any(_CONDITIONS),
            _LOST_OFTEN,
            # A reason after the main clause.
            r"[;:][ \t]+(?:it|they|the|there|elle|il|die|der|das|es)[ \t]",
            r",[ \t]+(?:or|else)[ \t]",
            "每晚|每夜|每天|每小時|每小时|每週|每周",
            "如果|否則|否则|不然|之前|之後|之后|前|後|后|時|时|因為|因为|所以|遇到|除非|只要|是因|原来|原來|とき|しないと|ので",
        )
    ),
)
_CHATTER_SIGNS = "|".join(
    (
        _any(_CHATTER),
        _any("my me (?-i:I)", after=r"[ \t,]"),
        rf"^\s*(?:{_one_of(_GREETINGS)})(?:[^\pL\pN]|$)",
        r"\?(?:\s|$)|\x{ff1f}",
        "你|您|咱|謝|谢|大家|請問|请问|嗎|吗|吧|早安|哈哈|辛苦|歡迎|欢迎|抱歉|不好意思|收到|覺得|觉得|今天|明天|昨天|休息",
        r"(?:^|[^自])我(?:$|[^們们])",
        "ございます|お疲れ|よろしく",
    )
)


def is_lesson(text: str) -> bool:
    return any(map(_has_lesson, _in_pairs(text[:READ])))


def is_chatter(text: str) -> bool:
    return _has(_CHATTER_SIGNS, text[:READ])


def _in_pairs(text: str) -> Iterator[str]:
    """The pairs of consecutive sentences of each line, or its only sentence."""
    for line in text.splitlines():
        sentences = _SENTENCE_END.split(line.strip())
        pairs = [f"{first} {second}" for first, second in pairwise(sentences)]
        yield from pairs or sentences


def _has_lesson(sentences: str) -> bool:
    if len(sentences) > LONGEST:
        return False
    signs = sum(_has(pattern, sentences) for pattern in _SIGNS)
    return signs == len(_SIGNS) or (signs == len(_SIGNS) - 1 and not is_chatter(sentences))


def _has(pattern: str, text: str) -> bool:
    return compiled(pattern, ignore_case=True).search(text) is not None
