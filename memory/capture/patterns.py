"""Classifies a text by how its lines begin, in English, French, German and Chinese.

Source of the order and the scores of the patterns: Free Context's auto-save. RE2: linear in the text.
"""

from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.front_matter import title_in_front_matter
from ctxhub.core.text.patterns import compiled
from memory.capture.lessons import is_chatter, is_lesson
from memory.capture.titles import clean_title, title_of
from memory.memories.models import MemoryType

# Characters: below LEAST only a lesson matches, below LEAST_OF_LESSON nothing; only the first READ are read.
LEAST, LEAST_OF_LESSON, READ = 50, 30, 100_000
PLAIN_FROM = 200
LIST_LINES = 3

_START = r"(?m)^[ \t]*(?:[-*+>#]+[ \t]+)?(?:\*\*|__)?"
_COLON = r"(?:\*\*|__)?[ \t]*[:\x{ff1a}](?:\*\*|__)?"
_DEFINES = (
    _START
    + r"(?P<subject>[^\s.,:;!?\x{3002}\x{ff0c}\x{ff1a}][^.,:;!?\n\x{3002}\x{ff0c}\x{ff1a}]{0,60}?)"
    + r"(?:\*\*|__)?"
    + r"(?:[ \t]+(?:(?:is|are|est|sont|ist|sind)[ \t]+(?:an?|the|une?|l[ae]s?|eine?n?|der|die|das)"
    + r"|means|refers to|stands for|désigne|signifie|bedeutet|bezeichnet)[ \t]"
    + r"|(?:[ \t]*(?:是指|是一種|是一种|指的是|意思是|定義為|定义为)))"
)
_DEFINITION = (
    _START + r"(?:definition|glossary|définition|begriff|定義|定义)" + _COLON + r"[ \t]*(?P<title>.*)"
)
_TASK = (
    r"(?m)^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]+(?P<title>.*)",
    _START
    + r"(?:todo|fixme|tasks?|action items?|à faire|tâches?|aufgaben?|zu erledigen|待辦|待办|任務|任务)"
    + _COLON
    + r"[ \t]*(?P<title>.*)",
    _START
    + r"(?P<title>(?:(?:fix|implement|corriger|implémenter|behebe|implementiere)[ \t]"
    + r"|(?:修復|修复|實作|实现)).*)",
)
_CODE = (
    r"(?m)^[ \t]*(?:```|~~~)",
    r"(?m)^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?"
    r"(?:def[ \t]+\w+[ \t]*\(|function\*?[ \t]*\w*[ \t]*\(|class[ \t]+\w+[ \t]*[({:]|fn[ \t]+\w+[ \t]*[<(]"
    r"|func[ \t]+[\w(]|(?:const|let|var)[ \t]+[\w{\[][^=\n]*=|interface[ \t]+\w+[ \t]*\{"
    r"|import[ \t]+[\w{*\"'].*(?:from[ \t]|;[ \t]*$)|from[ \t]+[\w.]+[ \t]+import[ \t]"
    r"|(?:public|private|protected)[ \t]+\w|#include[ \t]*[<\"])",
    r"(?m)^[ \t]*(?:SELECT[ \t].*[ \t]FROM[ \t]|CREATE[ \t]+(?:TABLE|INDEX)[ \t]|INSERT[ \t]+INTO[ \t])",
)
_DECISION = (
    _START + r"(?:decision|décision|entscheidung|決定|决定|決策|决策)" + _COLON + r"[ \t]*(?P<title>.*)",
    _START
    + r"(?P<title>(?:(?:(?:we|i)(?:'ve| have)?[ \t]+)?(?:decided|chose|agreed)|we(?: will|'ll)?[ \t]+use"
    + r"|(?:nous avons|on a)[ \t]+(?:décidé|choisi)|wir haben[ \t][^.\n]{0,80}(?:entschieden|beschlossen)"
    + r"|wir[ \t]+(?:verwenden|nehmen))(?:[ \t.,:].*|$))",
    _START + r"(?P<title>(?:我們|我们)?(?:決定|决定|採用|采用|選擇|选择|選用|选用).*)",
)
_IDEA = (
    _START
    + r"(?:ideas?|suggestion|idées?|ideen?|vorschlag|想法|點子|点子|建議|建议)"
    + _COLON
    + r"[ \t]*(?P<title>.*)",
    _START
    + r"(?P<title>(?:what if|maybe we (?:could|should)|we could|et si|on pourrait|nous pourrions"
    + r"|was wäre,? wenn|wir könnten)[ \t].*)",
    _START + r"(?P<title>(?:如果我們|如果我们|我們可以|我们可以).*)",
)
_LIST_LINE = r"(?m)^[ \t]*(?:[-*+•]|\d{1,3}[.)、])[ \t]+\S"
# A subject that begins with one of these refers to something before it, so it is no definition.
_BACK = """
this that it he she there they what which who here these those ce cet cela c'est il elle on ils das dies
dieses es er sie hier
"""
_POINTS_BACK = frozenset(_BACK.split())


@frozen
class Pattern:
    """`score` 0..1: how likely such a text is worth keeping. `title`: the title that the pattern matched."""

    name: str
    score: float
    title: str = ""


NONE, LESSON = Pattern("none", 0.0), Pattern("lesson", 0.9)


def find_pattern(text: str) -> Pattern:
    """The first pattern that matches. A text shorter than LEAST can only be a lesson; see `is_short`."""
    text = text[:READ]
    if is_short(text):
        return LESSON if not is_short(text, LEAST_OF_LESSON) and is_lesson(text) else NONE
    if (title := _defined(text)) is not None:
        return Pattern("definition", 0.8, title)
    for name, score, patterns in (("task", 0.85, _TASK), ("code", 0.9, _CODE), ("decision", 0.75, _DECISION)):
        for pattern in patterns:
            if match := _search(pattern, text, ignore_case=name != "code"):
                return Pattern(name, score, _title(match))
    if is_lesson(text):
        return LESSON
    if sum(1 for _ in compiled(_LIST_LINE).finditer(text)) >= LIST_LINES:
        return Pattern("list", 0.6)
    for pattern in _IDEA:
        if match := _search(pattern, text):
            return Pattern("idea", 0.7, _title(match))
    is_plain = len(text.strip()) > PLAIN_FROM and not is_chatter(text)
    return Pattern("plain", 0.4) if is_plain else NONE


def is_short(text: str, least: int = LEAST) -> bool:
    """Whether a text has fewer than `least` characters; a Chinese, Japanese or Korean one counts as two."""
    beginning = text.strip()[:least]
    return len(beginning) + sum(char >= "\u2e80" for char in beginning) < least


def is_list(text: str) -> bool:
    return sum(1 for _ in compiled(_LIST_LINE).finditer(text[:READ])) >= LIST_LINES


def type_of(text: str) -> MemoryType:
    """The memory type of a text: the first whose pattern matches, else a note."""
    text = text[:READ]
    for memory_type, patterns, ignore_case in _TYPES:
        if any(_search(pattern, text, ignore_case=ignore_case) for pattern in patterns):
            return memory_type
    return MemoryType.NOTE


def find_title(text: str, pattern: Pattern) -> str:
    """The title in the front matter, else of the pattern, if it has a valid one; else that of `title_of`."""
    return (
        clean_title(title_in_front_matter(text))
        or clean_title(pattern.title)
        or title_of(text, is_code=pattern.name == "code")
    )


_TYPES = (
    (MemoryType.SNIPPET, _CODE, False),
    (MemoryType.TASK, _TASK, True),
    (
        MemoryType.CONVERSATION,
        (
            _START
            + r"(?:user|assistant|human|utilisateur|benutzer|assistent|使用者|用戶|用户|助理|助手)"
            + _COLON,
        ),
        True,
    ),
    (
        MemoryType.REFERENCE,
        (
            r"https?://\S",
            r"(?:^|\s)doi:\s?10\.",
            _START + r"(?:see also|voir aussi|siehe auch|參見|参见|參考|参考)",
        ),
        True,
    ),
    (MemoryType.IDEA, _IDEA, True),
)


def _defined(text: str) -> str | None:
    if match := _search(_DEFINITION, text):
        return _title(match)
    for match in compiled(_DEFINES, ignore_case=True).finditer(text):
        subject = match.group("subject").strip()
        if subject.split()[0].casefold() not in _POINTS_BACK:
            return str(subject)
    return None


def _search(pattern: str, text: str, *, ignore_case: bool = True) -> Any:
    return compiled(pattern, ignore_case=ignore_case).search(text)


def _title(match: Any) -> str:
    return str(match.groupdict().get("title") or "")
