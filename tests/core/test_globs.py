"""Globs: which paths they match, and whether two have a path in common."""

import itertools
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.text.globs import as_regex, head, is_glob, literal_start, matches, matches_all, overlap
from tests.timing import within_cpu_seconds

MATCHED = [
    ("src/app.py", "src/app.py"),
    ("src/*.py", "src/app.py"),
    ("src/*", "src/app.py"),
    ("src/**", "src/app.py"),
    ("src/**", "src/api/v1/app.py"),
    ("src/**", "src"),
    ("src/", "src/api/app.py"),
    ("./src//*.py", "src/app.py"),
    ("**", "src/api/app.py"),
    ("**/app.py", "app.py"),
    ("**/app.py", "src/api/app.py"),
    ("src/**/app.py", "src/app.py"),
    ("src/**/v?/**/*.py", "src/api/v1/more/app.py"),
    ("[a-c]x", "bx"),
    ("[!a-c]x", "dx"),
    ("[]]x", "]x"),
    ("a[", "a["),
    ("*a*b*a", "xaybza"),
    ("app/[id]/page.tsx", "app/[id]/page.tsx"),
    ("app/[id]/*", "app/[id]/page.tsx"),
    ("app/[...slug]*", "app/[...slug]"),
    ("a**b", "axxb"),
]
NOT_MATCHED = [
    ("src/app.py", "src/App.py"),
    ("src", "src/app.py"),
    ("src/*", "src/api/app.py"),
    ("src/*.py", "src/app.pyc"),
    ("*.py", "src/app.py"),
    ("**/app.py", "src/myapp.py"),
    ("?", "ab"),
    ("[a-c]x", "dx"),
    ("[!a-c]x", "ax"),
    ("a[!b]c", "a/c"),
    ("a[+-9]c", "a/c"),
    ("a?c", "a/c"),
    ("a**b", "a/x/b"),
    ("*a*b*a", "xaybz"),
]


@pytest.mark.parametrize(
    "pattern", ["**", "**/*", "*/**", "**/**", "./**", "**/", "*/", "***/**", "**/?*", "*?/**", "**/*/**"]
)
def test_these_match_every_path(pattern: str) -> None:
    assert matches_all(pattern)
    for path in ("a", "a/b", "a/b/c.py", ".env", "[x]/{y}/z w", "é"):
        assert matches(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*", "a/b"),
        ("***", "a/b"),
        ("*/*/**", "a"),
        ("**/*.*", "a"),
        ("**/??*", "a"),
        ("[!.]*/**", ".env"),
        ("src/**", "a"),
        ("a*/**", "b"),
        ("**/a", "b"),
        ("a", "b"),
    ],
)
def test_these_do_not_match_every_path(pattern: str, path: str) -> None:
    assert not matches_all(pattern)
    assert not matches(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), MATCHED)
def test_a_glob_matches_a_path(pattern: str, path: str) -> None:
    assert matches(pattern, path)
    assert overlap(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), NOT_MATCHED)
def test_a_glob_does_not_match_a_path(pattern: str, path: str) -> None:
    assert not matches(pattern, path)


@pytest.mark.parametrize(
    ("first", "second", "has_common"),
    [
        ("src/**", "src/api/*.py", True),
        ("src/**", "**/test_*.py", True),
        ("src/*.py", "src/*.ts", False),
        ("src/a*", "src/*b", True),
        ("src/**/a", "src/**/b", False),
        ("src/", "src/x/y", True),
        ("src/", "source/", False),
        ("src", "src/x", False),
        ("*a*a*", "b?a?b", True),
        ("*a*a*", "b?b", False),
        ("*a*a*", "a?a", True),
        ("[a-m]*", "[n-z]*", False),
        ("[a-m]*", "[m-z]*", True),
        ("[!a]", "a", False),
        ("[!a]", "[!b]", True),
        ("[!a-z]", "[b-d]", False),
        ("app/[id]/page", "app/[id]/*", True),
        ("app/**", "app/[id]/page", True),
        ("*/b/**", "a/**/c", True),
        ("**/a/**", "b/*", True),
        ("a/*/c", "a/**/b", False),
        ("a/**", "a", True),
        ("a/", "a/[!b]/*.py", True),
        ("a/b/**", "a/**/c", True),
        ("a/[b]/**", "a/b", True),
        ("a/[b]/**", "a/c", False),
        ("**", "[b]/?", True),
    ],
)
def test_two_globs_overlap_or_not(first: str, second: str, has_common: bool) -> None:
    assert overlap(first, second) is overlap(second, first) is has_common


segments = st.text(alphabet="ab?*[]!-", min_size=1, max_size=4)
patterns = st.lists(st.one_of(segments, st.just("**")), min_size=1, max_size=3).map("/".join)
paths = st.lists(st.text(alphabet="ab[]", min_size=1, max_size=2), min_size=1, max_size=3).map("/".join)


def reference_matches(pattern: str, path: str) -> bool:
    """A simple and slow reference implementation of `matches`."""

    def match_segments(globs: list[str], names: list[str]) -> bool:
        if not globs:
            return not names
        if globs[0] == "**":
            return any(match_segments(globs[1:], names[n:]) for n in range(len(names) + 1))
        return bool(names) and match_segment(globs[0], names[0]) and match_segments(globs[1:], names[1:])

    def match_segment(glob: str, name: str) -> bool:
        with_classes = re.sub(r"\[([!^]?)(\]?[^\]]*)\]|([*?])|(.)", _regex_of, glob)
        literal = "".join(_regex_of(m) for m in re.finditer(r"()()([*?])|(.)", glob))
        return any(re.fullmatch(regex, name) for regex in (with_classes, literal))

    return match_segments(pattern.split("/"), path.split("/"))


def _regex_of(match: re.Match[str]) -> str:
    negated, body, wild, plain = match.groups()
    if wild:
        return {"*": ".*", "?": "."}[wild]
    if plain:
        return re.escape(plain)
    inside = {chr(c) for c in _characters(body)}
    characters = "".join(map(re.escape, sorted(inside)))
    return f"[{'^' if negated else ''}{characters}]"


def _characters(body: str) -> list[int]:
    codes: list[int] = []
    position = 0
    while position < len(body):
        if body[position + 1 : position + 2] == "-" and position + 2 < len(body):
            low, high = sorted((ord(body[position]), ord(body[position + 2])))
            codes += range(low, high + 1)
            position += 3
        else:
            codes.append(ord(body[position]))
            position += 1
    return codes


def has_no_empty_class(pattern: str) -> bool:
    """Whether no character class is empty, which the reference implementation cannot express."""
    return not re.search(r"\[[!^]?\]", pattern)


@settings(max_examples=400)
@given(patterns.filter(has_no_empty_class), paths)
def test_matches_agrees_with_the_reference_implementation(pattern: str, path: str) -> None:
    assert matches(pattern, path) is reference_matches(pattern, path)
    assert bool(re.match(as_regex(pattern, atomic="(?:"), f"{path}/")) is matches(pattern, path)


# Two patterns of three short segments that overlap do so on one of these.
UNIVERSE = [
    "/".join(names)
    for length in range(1, 5)
    for names in itertools.product(["a", "b", "aa", "ab", "ba", "bb"], repeat=length)
]
short = st.lists(st.text(alphabet="ab*?", min_size=1, max_size=2), min_size=1, max_size=3).map("/".join)


@settings(max_examples=300)
@given(short, short)
def test_two_globs_overlap_where_a_path_matches_both(first: str, second: str) -> None:
    has_common = any(matches(first, path) and matches(second, path) for path in UNIVERSE)
    assert overlap(first, second) is overlap(second, first) is has_common


# As above, with brackets, which also stand for themselves.
BRACKETS = ["a", "b", "*", "?", "a*", "*b", "[ab]", "[!a]", "[a]b", "[a]*", "**"]
NAMED_IN_BRACKETS = [
    "/".join(names)
    for length in range(1, 5)
    for names in itertools.product(["a", "b", "ab", "[ab]", "[!a]", "[a]b"], repeat=length)
]
bracketed = st.lists(st.sampled_from(BRACKETS), min_size=1, max_size=3).map("/".join)


@settings(max_examples=300)
@given(bracketed, bracketed)
def test_two_globs_with_brackets_overlap_where_a_path_matches_both(first: str, second: str) -> None:
    has_common = any(matches(first, path) and matches(second, path) for path in NAMED_IN_BRACKETS)
    assert overlap(first, second) is overlap(second, first) is has_common


@settings(max_examples=200)
@given(patterns, paths)
def test_a_matching_path_overlaps_and_has_the_literal_start(pattern: str, path: str) -> None:
    if matches(pattern, path):
        assert path.startswith(literal_start(pattern))
        assert head(pattern) in ("", path.split("/")[0])
        if not is_glob(path):
            assert overlap(pattern, path) is overlap(path, pattern) is True


SLOW: list[Callable[[], bool]] = [
    lambda: matches("*a" * 400 + "b", "a" * 900),
    lambda: matches("**/a/" * 190 + "b", "a/" * 490 + "a"),
    lambda: matches("[[]*" * 200 + "/x", "[" * 900),
    lambda: overlap("*a" * 400 + "c", "a" * 300 + "*" + "a" * 500 + "b"),
    lambda: overlap("**/a*/" * 160 + "b", "*a/" * 300 + "c"),
    lambda: overlap("*[a-m0]" * 140 + "x", "?*[!1b-d]" * 110 + "y"),
    lambda: overlap(f"*[{'ace' * 300}]x", f"*[{'bdf' * 300}]y"),
    lambda: overlap("".join(f"*[{chr(c)}-ä]" for c in range(100, 250)) + "x", "[!a]*" * 190 + "y"),
]


@pytest.mark.parametrize("run", SLOW)
def test_no_pattern_is_slow(run: Callable[[], bool]) -> None:
    with within_cpu_seconds(0.1):
        assert run() is False
