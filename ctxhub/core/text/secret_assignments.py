"""Finds credentials by the name before them: "DB_PASSWORD=...", "the password is ..."."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ctxhub.core.text import secret_values as values
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.secret_search import FoundSecret, Search


class Assigned(NamedTuple):
    """A value after a name. `operator` is "" if the value just follows; `is_variable`: NAME=value."""

    name: str
    value: str
    operator: str
    is_quoted: bool
    is_variable: bool
    is_on_next_line: bool

    @property
    def is_loose(self) -> bool:
        return self.is_on_next_line or self.operator in LOOSE


Judge = Callable[[Assigned], bool]


def _read(judge: Judge, match: re.Match[str], text: str) -> FoundSecret | None:
    span = _span_of(match, text, judge)
    return FoundSecret("assigned secret", *span) if span else None


def _span_of(match: re.Match[str], text: str, judge: Judge) -> tuple[int, int] | None:
    """Return start and end of the value after a matched name if it is a credential, else None."""
    start, end = match.span("quoted")
    if is_unquoted := start < 0:
        start, end = match.span("bare")
    value = CUT_AT.split(text[start:end], maxsplit=1)[0]
    operator = match["operator"].strip()
    is_variable = operator == "=" and text[slice(*match.span("name"))].isupper()
    if is_unquoted and not is_variable:
        value = _literal(value)
    before = match.string[max(match.start() - 14, 0) : match.start()]
    if before.removesuffix("to").rstrip("_-").endswith(HARMLESS_TOKENS):
        return None
    if not operator and OPTION.search(before):
        operator = "="
    assigned = Assigned(
        match["name"].lower(), value, operator, not is_unquoted, is_variable, bool(match["gap"])
    )
    is_secret = (is_token if match["weak"] is not None else judge)(assigned)
    return (start, start + len(value)) if is_secret else None


def _literal(value: str) -> str:
    """Return the literal part of an unquoted value; "" for an attribute or a comparison."""
    value = value.split("&", 1)[0].rstrip(".,:;!?*=")
    return "" if EXPRESSION.search(value) else value


# -- Rules for values ------------------------------------------------------------------------------


def is_password(assigned: Assigned) -> bool:
    value = assigned.value
    if assigned.is_loose:
        return values.is_strong(value)
    if values.is_chosen(value):
        return assigned.is_quoted or assigned.is_variable or not values.names_a_secret(value)
    if assigned.is_variable:
        return values.is_phrase(value) or values.is_word(value) or values.is_uuid(value)
    if values.is_numbered_phrase(value) and (assigned.is_quoted or value.lower() != value):
        return True
    # After "password:" there may be a label; a passphrase is words.
    operators = ("=", ":") if assigned.name.startswith("passphrase") else ("=",)
    return assigned.is_quoted and assigned.operator in operators and values.is_phrase(value)


def is_secret_key(assigned: Assigned) -> bool:
    value = assigned.value
    if values.is_uuid(value) and not assigned.is_loose:
        return assigned.is_variable or assigned.is_quoted or not assigned.name.startswith("secret")
    if assigned.is_variable and values.is_chosen(value):
        return True
    return values.is_strong(value) or values.is_aws_key(value) or is_token(assigned)


def is_token(assigned: Assigned) -> bool:
    if assigned.is_variable and values.is_uuid(assigned.value):
        return True
    return len(assigned.value) >= 8 and not assigned.is_loose and values.is_scrambled(assigned.value)


# -- Names and operators ---------------------------------------------------------------------------

# What may follow a name without being its value: "set the password to ...", a cell of a table.
LOOSE = ("", ">", "->", "|", "to", "now")
HARMLESS_TOKENS = ("csrf", "page", "next", "sync", "continuation")
OPTION = lazy_pattern(r"--[\w-]*$")
EXPRESSION = lazy_pattern(r"[.$:=]")
# A value ends before CJK text and before typographic quotes.
CUT_AT = lazy_pattern(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\u201c\u201d\u2019\u00bb]")

# "(root)", "[None]".
_ASIDE = r"(?: ?[(\[][^)\]\n]{0,30}[)\]])?"
_SIGN = r"(?:: ?str)?[ \t]{0,4}(?::=|=>|->|==|=|:|\xef|>|\|)(?:\*\*)?[ \t]{0,4}"
_IS = (
    r"(?: (?:for|of|to|on|in|at|du|de|von|f.?r)(?: [^\s:=]{1,24}){1,3}?)?"
    # \xc3: è, é and the like.
    r"(?: (?:is|was|are|ist|lautet|est|\xc3|set to|to|now)(?: now| set to)?:?|:)(?: |(?=\r?\n))"
)
_BEFORE_DIGIT = r"[ \t](?=[\"']?[^\s\"']{0,40}[0-9])"
_NEXT = r"[\s\"'`\\\]*:=>(\[\xef]"
_WORD = r"(?:[a-z]{3,12}|[0-9]{1,6})[,;!?]?"
_PHRASE = rf"{_WORD}(?: {_WORD}){{3,7}}"


def _named(name: str, shortest: int = 6) -> re.Pattern[str]:
    """Match a name and its value, quoted or a single word, on the same line or below."""
    return lazy_pattern(
        rf"(?P<name>{name})(?={_NEXT})[\"'`\\\]*]{{0,3}}{_ASIDE}(?P<operator>(?(weak){_SIGN}|(?:{_SIGN}|{_IS}|{_BEFORE_DIGIT})))"
        r"(?P<gap>(?:\r?\n[ \t]{0,8}){0,2})[\\*]{0,2}"
        rf"(?:[\"'`](?P<quoted>[^\s\"'`\\]{{{shortest},200}}+|{_PHRASE})\\?[\"'`]"
        rf"|(?!\*)(?P<bare>[^\s\"'`\\,;()\[\]{{}}<>]{{{shortest},200}}+)(?=[\s\"'`\\,;)\]}}<]|$))"
    )


# Words between a name and a sign: "Пароль администратора: ...".
_OF_WHAT = r"(?:(?:[^\S\n][^\W\d_]{2,20}){1,2}?(?=[^\S\n]?(?:[:=\uff1a]|(?:es|to|\xe4r|l\xe0|это) )))?"


def _foreign(name: str) -> re.Pattern[str]:
    return lazy_pattern(
        rf"(?P<name>{name})(?P<weak>(?!))?[\"'`*]{{0,3}}{_OF_WHAT}[^\S\n]?"
        r"(?P<operator>(?:[:=\uff1a是為为は는은]|改成|es |to |\xe4r |l\xe0 |это |[-\u2014] ){0,2})"
        r"[^\S\n]{0,2}(?P<gap>(?:\r?\n){0,2})[\"'`*\u300c\u201c]{0,2}"
        r"(?P<bare>[^\s\"'`\\,;()\[\]{}<>\u2e80-\uffef]{6,200}+)(?![(\[{<])(?P<quoted>(?!))?"
    )


def _foreign_letter(letters: str) -> str:
    """The last letter that is not ASCII's."""
    return next(letter for letter in reversed(letters) if not letter.isascii())


_KEYS = ("api", "access", "secret", "private", "signing", "encryption", "auth", "storage", "master")
_ENDS = f"[{''.join(sorted({kind[-1] for kind in _KEYS}))}]"
_OF_KEY = (
    f"(?<={_ENDS}[ _-]key)(?:{'|'.join(f'(?<={kind}.key)' for kind in _KEYS)})"
    f"|(?<={_ENDS}key)(?:{'|'.join(f'(?<={kind}key)' for kind in _KEYS)})"
)
# SECRET_KEY_BASE, secretKeyBase; keybase is something else.
_BASE = "_base|(?<=secretkey)base"
# For lower-case text. "weak": after this name only a generated value is a credential. Each pattern begins
# with the letters before it, which several names share and which are searched for once.
_NAMES: tuple[tuple[str, re.Pattern[str], Judge], ...] = (
    (
        "pass",
        _named(r"pass(?:word|wd|phrase|code|wort|e(?<=mot de passe)|(?<=[_-]pass)|(?P<weak>))s?"),
        is_password,
    ),
    ("pw", _named(r"pw(?:d|(?<![a-z0-9]pw))(?P<weak>(?!))?"), is_password),
    ("cre", _named(r"cre(?:t(?<=secret)|(?P<weak>dential))s?"), is_secret_key),
    ("key", _named(rf"key(?:(?={_NEXT})(?:{_OF_KEY})|{_BASE})(?P<weak>(?!))?", 8), is_secret_key),
    ("ken", _named(r"ken(?<=token)(?P<weak>s?)", 12), is_token),
)
NAMES = tuple(Search(literal, name, partial(_read, judge)) for literal, name, judge in _NAMES)
# For text as written: a letter that is not ASCII's as a quick filter, and the search.
FOREIGN_NAMES = tuple(
    (_foreign_letter(letters), Search(letters, _foreign(name), partial(_read, is_password)))
    for letters, name in (
        ("密", "密[碼码]"),
        ("口令", "口令"),
        ("ароль", "ароль"),
        ("パスワード", "パスワード"),
        ("비밀번호", "비밀번호"),
        ("traseñ", "traseña"),
        ("asł", "asł[oa]"),
        ("şifre", "şifre(?:si|niz)?"),
        ("Şifre", "Şifre(?:si|niz)?"),
        ("ösenord", "ösenord(?:et)?"),
        ("ật kh", "ật khẩu"),
    )
)
