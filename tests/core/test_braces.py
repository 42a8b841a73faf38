"""Braces in globs: what they stand for, and what is a letter."""

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.text.braces import expand_braces, split_outside_braces
from ctxhub.core.text.globs import matches, overlap
from tests.timing import within_cpu_seconds

EXPANDED = [
    ("src/**/*.{ts,tsx}", ["src/**/*.ts", "src/**/*.tsx"]),
    ("{a,b}/{c,d}", ["a/c", "a/d", "b/c", "b/d"]),
    ("a{b,c{d,e}}f", ["abf", "acdf", "acef"]),
    ("a{,b}", ["a", "ab"]),
    ("a{b,}", ["ab", "a"]),
    ("{src,src}/**", ["src/**"]),
    ("{**,a}", ["**", "a"]),
    ("{a,{x}}", ["a", "{x}"]),
    ("{{a,b}}", ["{a}", "{b}"]),
    ("{{x},y}", ["{x}", "y"]),
    ("{a,b}}", ["a}", "b}"]),
    ("{{a,b}", ["{a", "{b"]),
    ("!{a,b}/**", ["!a/**", "!b/**"]),
    ("{a,,b}", ["a", "", "b"]),
    ("*.{ts, tsx}", ["*.ts", "*.tsx"]),
    ("{my file , b}.md", ["my file.md", "b.md"]),
]
LITERAL = ["src/app.py", "{x}", "{{x}}", "a,b", "{a,b", "a,b}", "}a,b{", "{a{b},c", "{}", "{1..3}", ""]


@pytest.mark.parametrize(("glob", "globs"), EXPANDED)
def test_braces_stand_for_their_alternatives(glob: str, globs: list[str]) -> None:
    assert expand_braces(glob) == globs


@pytest.mark.parametrize("glob", LITERAL)
def test_without_a_comma_or_a_partner_a_brace_is_a_letter(glob: str) -> None:
    assert expand_braces(glob) == [glob]


@pytest.mark.parametrize(
    "glob", ["{a,b}" * 7, "{a,b}" * 20, "{" + ",".join(map(str, range(65))) + "}", "{a,{b,c}}" * 200]
)
def test_more_than_64_are_refused(glob: str) -> None:
    with pytest.raises(InvalidInput, match=r"^paths\[3\]: '.* stands for more than 64 globs"):
        expand_braces(glob, "paths[3]")


def test_64_are_not_too_many() -> None:
    assert len(set(expand_braces("{a,b}" * 6))) == 64
    assert len(expand_braces("{" + ",".join(map(str, range(64))) + "}")) == 64


@pytest.mark.parametrize(
    "glob",
    [
        "{" * 65_536,
        "{a," * 20_000,
        "{" * 20_000 + "a,b" + "}" * 20_000,
        "{a,b" * 10_000 + "}" * 10_000,
        "{a,a}" * 200,
        "{" + "," * 999 + "}",
        "{a,b}" * 13_000,
    ],
)
def test_no_braces_are_slow(glob: str) -> None:
    with within_cpu_seconds(0.5):
        with suppress(InvalidInput):
            assert expand_braces(glob)
        assert split_outside_braces(glob, ",")


def model(tree: object) -> tuple[str, list[str]]:
    """The text of a tree, and the globs it stands for: a list has parts, a tuple alternatives."""
    if isinstance(tree, str):
        return tree, [tree]
    if isinstance(tree, list):
        texts, globs = zip(*map(model, tree), strict=True) if tree else ((), ())
        return "".join(texts), ["".join(each) for each in product(*globs)]
    assert isinstance(tree, tuple)
    texts, globs = zip(*map(model, tree), strict=True)
    return f"{{{','.join(texts)}}}", [glob for each in globs for glob in each]


trees = st.recursive(
    st.sampled_from(["", "a", "b/", "*", "{x}"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.tuples(inner, inner, inner)
    ),
    max_leaves=8,
)


@given(trees)
def test_expansion_agrees_with_a_simple_model(tree: object) -> None:
    text, globs = model(tree)
    expected = list(dict.fromkeys(globs))
    if len(expected) <= 64:
        assert expand_braces(text) == expected
    else:
        with pytest.raises(InvalidInput):
            expand_braces(text)


@given(st.text(alphabet="{},ab/*", max_size=30))
def test_any_text_expands_to_globs_without_more_alternatives(text: str) -> None:
    try:
        found = expand_braces(text)
    except InvalidInput:
        return
    assert 1 <= len(found) == len(set(found)) <= 64
    assert len(found) == 1 or all(len(each) < len(text) for each in found)


PIECES = st.sampled_from(["a", "b", "*", "**", "a*", "{a,b}", "{a,}b", "{*,b}", "{a,b/{a,b}}"])
GLOBS = st.lists(PIECES, min_size=1, max_size=2).map("/".join)
UNIVERSE = ["/".join(names) for n in range(1, 5) for names in product(["a", "b", "ab"], repeat=n)]


@given(GLOBS, GLOBS)
def test_two_globs_with_braces_overlap_where_a_path_matches_both(first: str, second: str) -> None:
    ones, others = expand_braces(first), expand_braces(second)
    common = [
        path
        for path in UNIVERSE
        if any(matches(one, path) for one in ones) and any(matches(other, path) for other in others)
    ]
    found = any(overlap(one, other) for one in ones for other in others)
    assert found is any(overlap(other, one) for one in ones for other in others) is bool(common)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("src/*.{ts,tsx}, docs", ["src/*.{ts,tsx}", " docs"]),
        ("{a,{b,c}},d,{e,f}", ["{a,{b,c}}", "d", "{e,f}"]),
        ("{x},{y}", ["{x}", "{y}"]),
        ("{a,b", ["{a", "b"]),
        ("a", ["a"]),
        ("", [""]),
    ],
)
def test_a_comma_within_braces_splits_no_list(text: str, parts: list[str]) -> None:
    assert split_outside_braces(text, ",") == parts
