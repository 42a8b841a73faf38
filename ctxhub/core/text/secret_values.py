"""Tells credentials from other values: placeholders, names, references.

There are three criteria. A *generated* value mixes characters as no word or version does. A *chosen* one has
letters and digits in one word that is no algorithm, version or amount, as passwords chosen by people do. A
*phrase* is plain words, and counts only where nothing but a value can be.
"""

import base64
import binascii
import re

from ctxhub.core.text.lazy_patterns import lazy_pattern


def is_generated(value: str) -> bool:
    """Whether characters are mixed as in no word or version: "k3Zp0wQ...", but not "refresh-token-v2"."""
    if " " in value or not DIGIT.search(value) or is_stand_in(value) or DIGEST_OR_ADDRESS.match(value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&+=?~]"))
    inner_digits = len(re.findall(r"[0-9](?=[A-Za-z])", value))
    return kinds == 4 or (kinds == 3 and inner_digits >= 2) or (len(value) >= 20 and inner_digits >= 4)


def is_mixed(value: str) -> bool:
    """Whether it has digits and letters, or capitals among small letters as in no name."""
    return bool(DIGIT.search(value) and LETTER.search(value)) or _has_random_case(value)


def is_scrambled(value: str) -> bool:
    """Whether it is generated, or letters alone whose case is random: where nothing but a value can be."""
    return is_generated(value) or (_has_random_case(value) and not is_stand_in(value))


def is_aws_key(value: str) -> bool:
    """Whether it has the form of AWS' secret access keys, which may hold a single digit, or only a slash."""
    return AWS_KEY.match(value) is not None and not is_stand_in(value)


def is_chosen(value: str) -> bool:
    """Whether somebody may have chosen it as a password: "hunter2-Blue9", but not "sha256" or "field2"."""
    if " " in value or not DIGIT.search(value) or is_stand_in(value) or REFERENCE.match(value):
        return False
    words = WORD_BREAK.split(value)
    has_sign = SIGN.search(value) and LETTER.search(value)
    return bool(has_sign) or any(MIXED.match(word) and not NUMBERED.match(word) for word in words)


def is_strong(value: str) -> bool:
    """Whether it is chosen, and no identifier with a number: not "app1-db2", "oauth2Client"."""
    if not is_chosen(value) or IDENTIFIER.match(value):
        return False
    if not (value.islower() or value.isupper()) or SIGN.search(value):
        return True
    return any(len(word) >= 8 and len(CHANGE.findall(word)) >= 2 for word in WORD_BREAK.split(value))


def is_phrase(value: str) -> bool:
    """Whether it is three plain words or more, beside numbers; none of them a hint what to write there."""
    words = [word.rstrip(",;!?") for word in PHRASE_BREAK.split(value.lower())]
    plain = [word for word in words if not word.isdigit()]
    return len(plain) >= 3 and all(map(_is_plain, plain)) and not is_stand_in(value)


def is_numbered_phrase(value: str) -> bool:
    """Whether it is two plain words or more and a number behind them, in one word: "blue-whale-42"."""
    words = PHRASE_BREAK.split(value.lower())
    plain = [word for word in words if not word.isdigit()]
    is_phrase = " " not in value and words[-1].isdigit() and len(plain) >= 2 and all(map(_is_plain, plain))
    return is_phrase and not is_stand_in(value)


def is_word(value: str) -> bool:
    """Whether it is one plain word, for places where nothing but a value can be."""
    return len(value) >= 8 and _is_plain(value.lower()) and not is_stand_in(value)


def is_chosen_password(value: str) -> bool:
    """Whether it is a password where nothing but one can be: chosen, a phrase or a word."""
    return is_chosen(value) or is_phrase(value) or is_word(value)


def is_login(value: str) -> bool:
    """Whether it is "user:password" in base64, as the scheme Basic of HTTP has it."""
    try:
        login = base64.b64decode(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    user, _, password = login.partition(":")
    return bool(user and password) and login.isprintable()


def is_stand_in(value: str) -> bool:
    """Whether it is a placeholder, an example, or a word for what belongs there."""
    return STAND_IN.match(value) is not None


def is_uuid(value: str) -> bool:
    return UUID.fullmatch(value) is not None


def is_filler(rest: str) -> bool:
    """Whether it stands for the rest of a key: "xxxx", EXAMPLE, "your-key", one character again and again."""
    return FILLER.search(rest) is not None or len(set(SEPARATORS.sub("", rest.lower()))) < 2


def is_wordy(rest: str) -> bool:
    """Whether it is words and short numbers with signs between them, as in the name of a thing."""
    return all(map(WORD.fullmatch, SEPARATORS.split(rest)))


def names_a_secret(value: str) -> bool:
    """Whether it may be the name of a variable: "newPassword2"."""
    return NAMES_A_SECRET.match(value) is not None


# -- Pieces ----------------------------------------------------------------------------------------

STAND_IN = lazy_pattern(
    r"[$<{\[%]|#\{|[*x.…•-]+$|[0-9.]+$|(.)\1+$"
    r"|.*(?:\$\{|\{\{|<[a-z]|\.\.\.|…|\*\*\*|xxxx|example|placeholder|change.?(?:me|this)|replace.?me"
    r"|redacted|dummy|your[-_])"
    r"|(?:my|the|some|db|user|new)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api[-_]?)?key"
    r"|user(?:name)?|admin|root|guest|test|demo|dev|local|postgres|mysql|redis|foo|bar|hidden)"
    r"(?:[-_]?here)?\d{0,4}$"
    r"|(?:(?:dev|test(?:ing)?|local(?:host)?|demo|sample|my|db|user|root|admin|pass(?:word)?|pwd|secret)[-_.]?){1,4}"
    r"\d{0,4}$",
    re.IGNORECASE | re.DOTALL,
)
FILLER = lazy_pattern(
    r"example|placeholder|xxxx|\.\.\.|…|\*\*\*|\$\{|<[a-z]|redacted|dummy|change.?me|replace.?me|your[-_]|(.)\1{11}",
    re.IGNORECASE,
)
UUID = lazy_pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
SEPARATORS = lazy_pattern(r"[-_.]")
WORD = lazy_pattern(r"(?:[a-z]{0,16}|[A-Z]{1,16}|[A-Z][a-z]{1,15})[0-9]{0,4}")
DIGEST_OR_ADDRESS = lazy_pattern(
    r"(?:sha\d|md5|argon2|bcrypt|pbkdf2|vault:|env:|file:|https?:|[./~])"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    re.IGNORECASE,
)
# Other references: the location of the secret, a rule for it, a time, an address.
REFERENCE = lazy_pattern(
    rf"(?:{DIGEST_OR_ADDRESS.pattern})|(?:arn|op|ssm|kms|gcp|azure|keyring|secret|ref):|projects/|\^|.*(?:\[[a-z0]-|\.\*)"
    r"|(?:min|max|len)\w*[:=]|\d{4}-\d\d-\d\d|[\w.+-]+@[\w-]+\.[\w.-]+$|[\w-]+/[\w./-]+\.\w{1,4}$",
    re.IGNORECASE,
)
AWS_KEY = lazy_pattern(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9/+]*[0-9/+])[A-Za-z0-9/+]{40}$")
NAMES_A_SECRET = lazy_pattern(
    r"[A-Za-z_]*(?:pass(?:word|wd|phrase)|pwd|secret|token|credential)\w*$", re.IGNORECASE
)
DIGIT = lazy_pattern(r"[0-9]")
LETTER = lazy_pattern(r"[A-Za-z]")
PHRASE_BREAK = lazy_pattern(r"[-_ ]")
WORD_BREAK = lazy_pattern(r"[-_./:|,]")
# A small letter before a capital; a capital that another follows, perhaps after one small letter.
RISE, SHORT_HUMP = lazy_pattern(r"[a-z0-9](?=[A-Z])"), lazy_pattern(r"[A-Z](?=[a-z]?[A-Z])")
SIGN = lazy_pattern(r"[!@#$%^&*?~]")
MIXED = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])\S{5}")
CHANGE = lazy_pattern(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")
# Algorithms and versions, abbreviations ("RFC6238"), amounts ("12characters", "1Password"), and what
# programmers number.
NUMBERED = lazy_pattern(
    r"(?:(?:base|sha|md|utf|iso|crc|u?int|float|oauth|http|tls|ipv|argon|pbkdf|b?crypt|scrypt|ed|x|curve|secp|aes|rsa"
    r"|hmac|min(?:imum)?|max(?:imum)?|uuid|es|python|postgres(?:ql)?|mysql|windows|office|level|phase|step|part|page|line|row|col(?:umn)?|item"
    r"|field|value|val|var|arg|param|input|text|string|str|name|option|form|group|account|client|server|host|node"
    r"|user|test|case|app|web|auth|data|key|hash|version|ver|rev|v|example|chapter|section|table|figure)[0-9]+[a-z]{0,3}"
    r"|[0-9]+[a-z]{1,12}|[0-9]+-?(?-i:[A-Z][a-z]+)|(?-i:[A-Z]{2,8}[0-9]{1,6}[A-Za-z]?))$",
    re.IGNORECASE,
)
# One number at the end of a word, or between two words: "hunter2", "Ed25519PrivateKey".
IDENTIFIER = lazy_pattern(
    r"[A-Za-z]{2,}[0-9]{1,2}(?:[A-Z]?[a-z]{2,}[A-Za-z]*)?$|[A-Za-z]{2,}[0-9]{1,5}(?:[A-Z][a-z]+){1,4}$"
)
# A phrase with one of these words is a hint what to write, or says that nothing is there.
_HINTS = """
the this that your you my our his her its new old not non never none and are was for from with into here
there where who see ask set get put add use fill read load keep kept stored saved given made must should
may can needs need please enter type insert replace change choose forgot reset same change updated
required optional unset unused disabled enabled generated random encrypted hashed salted masked removed
rotated whatever something anything nothing undefined ignored external provided default empty unknown
invalid incorrect wrong mismatch missing expired hidden plain plaintext cleartext production
development staging testing local localhost vault env environment file keychain secrets secret password
passwords passwort passphrase token tokens key keys credential credentials value variable string text
example sample dummy fake placeholder database postgres postgresql mysql mariadb redis admin administrator
root user username login account service manager server client config settings policy strength length
short long weak strong too least minimum maximum rule version section characters symbols digits letters
word words phrase numbers
"""
HINTS = frozenset(_HINTS.split())


def _is_plain(word: str) -> bool:
    return len(word) >= 3 and word.isascii() and word.isalpha() and word not in HINTS


def _has_random_case(value: str) -> bool:
    return len(RISE.findall(value)) >= 3 and len(SHORT_HUMP.findall(value)) >= 4
