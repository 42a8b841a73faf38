"""What globs of other tools have: escaped brackets, extended globs, exemptions."""

import pytest

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.text.glob_syntax import refuse_exempting, refuse_extended_glob, unescape_brackets
from tests.timing import within_cpu_seconds


@pytest.mark.parametrize(
    ("path", "unescaped"),
    [
        (r"app/\[id\]/page.tsx", "app/[id]/page.tsx"),
        (r"app/\[\[...slug\]\]/page.tsx", "app/[[...slug]]/page.tsx"),
        (r"\[a\]\[b\]", "[a][b]"),
        (r"app\[id]\page.tsx", r"app\[id]\page.tsx"),
        (r"app/\[id]", r"app/\[id]"),
        (r"app/[id\]", r"app/[id\]"),
        (r"app\[a/b\]c", r"app\[a/b\]c"),
        (r"src\app.py", r"src\app.py"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
    ],
)
def test_a_pair_of_brackets_loses_its_backslashes(path: str, unescaped: str) -> None:
    assert unescape_brackets(path) == unescaped


def test_no_brackets_are_slow() -> None:
    with within_cpu_seconds(0.5):
        for path in ("\\[" * 500, "\\[" * 250 + "\\]" * 250, "\\]" * 500, "\\[x" * 333):
            assert unescape_brackets(path)


@pytest.mark.parametrize(
    ("glob", "instead"),
    [
        ("src/*.@(ts|tsx)", "Write 'src/*.{ts,tsx}'."),
        ("src/@(a)/x", "Write 'src/a/x'."),
        ("x?(.spec|.test).ts", "Write 'x{,.spec,.test}.ts'."),
        ("*.?(c|m)ts", "Write '*.{,c,m}ts'."),
        ("src/+(a|b)", "For +(a) write *"),
        ("src/*(a)", "For *(a) write *"),
        ("src/!(gen)/**", "For !(a) write what is meant"),
        ("!(gen)", "For !(a) write what is meant"),
        ("@(a|+(b))", "For @(a|b) write {a,b}."),
    ],
)
def test_an_extended_glob_is_refused_with_how_to_write_it(glob: str, instead: str) -> None:
    with pytest.raises(InvalidInput, match="extended glob") as error:
        refuse_extended_glob(glob, "paths[0]")
    assert instead in error.value.hint


@pytest.mark.parametrize(
    "path", ["app/(auth)/page.tsx", "app/@modal/(.)photo", "src/+page.svelte", "a!b", "@a"]
)
def test_names_with_round_brackets_are_no_extended_globs(path: str) -> None:
    refuse_extended_glob(path, "paths[0]")


def test_an_exemption_is_refused_where_it_exempts_nothing() -> None:
    with pytest.raises(InvalidInput, match="path: '!src/gen' begins with '!'"):
        refuse_exempting("!src/gen", "path")
    refuse_exempting("src/!gen", "path")
