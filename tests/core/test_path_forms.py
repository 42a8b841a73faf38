"""How paths are written beside their names: what is cut, what is a list, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.core.kit.text_lists import UnreadableList
from ctxhub.core.text.path_case import fold_path
from ctxhub.core.text.path_forms import doubtful, listed_paths, misplaced, spellings
from tests.timing import within_cpu_seconds

CUT = [
    ("src/a.py", "src/a.py"),
    ("src/a.py:42", "src/a.py"),
    ("src/a.py:12:3", "src/a.py"),
    ("src/a.py:12-20", "src/a.py"),
    ("src/a.py:42:", "src/a.py"),
    ("src/a.py:L42", "src/a.py"),
    ("src/a.py#L10", "src/a.py"),
    ("src/a.py#L1-L2", "src/a.py"),
    ("src/a.py#L1C2-L3C4", "src/a.py"),
    ("src/*.py:42", "src/*.py"),
    ("tests/test_a.py::TestLogin::test_it[a-b]", "tests/test_a.py"),
    ("src/a.py:login()", "src/a.py"),
    ("docs/setup.md#install", "docs/setup.md"),
    ("`src/a.py`", "src/a.py"),
    ("'src/a.py'", "src/a.py"),
    ('"src/a.py"', "src/a.py"),
    ("\u201csrc/a.py\u201d", "src/a.py"),
    ("./src/a.py", "src/a.py"),
    ("././src/a.py", "src/a.py"),
    ("@src/a.py", "src/a.py"),
    ("`@./src/a.py:42`", "src/a.py"),
    ("[a.py](src/a.py)", "src/a.py"),
    ("[the login](src/a.py#L3)", "src/a.py"),
    ("!src/a.py:42", "!src/a.py"),
    ("!`src/a.py`", "!src/a.py"),
]
NAMES = [
    *("src/[id]/page.tsx", "[id].tsx", "[[...slug]].tsx", "app/(group)/page.tsx", "@(a|b).ts", "!(a).ts"),
    *("notes:draft.md", "C#/a.cs", "#a#", "~lock", "it's.md", "$postId/a.tsx", "a b.md", "src/**/*.{ts,tsx}"),
    *("a", "..a", "a.b:c/d", "issue#42", "x{1,2}.py", "\u00e4/\u4e2d.py"),
]


@pytest.mark.parametrize(("text", "path"), CUT)
def test_what_stands_around_a_path_is_cut(text: str, path: str) -> None:
    assert spellings(text)[0] == text
    assert spellings(text)[-1] == path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays(name: str) -> None:
    assert spellings(name) == [name]
    assert (listed_paths(name), misplaced(name), doubtful(name)) == (None, "", "")


def test_each_mark_is_cut_by_itself() -> None:
    assert spellings("`@src/a.py:42`") == ["`@src/a.py:42`", "@src/a.py:42", "src/a.py:42", "src/a.py"]


@pytest.mark.parametrize(
    "text",
    [
        "src/a.py, src/b.py",
        "src/a.py,src/b.py",
        "src/a.py; src/b.py",
        "src/a.py\nsrc/b.py",
        "- src/a.py\r\n- src/b.py",
        "['src/a.py', 'src/b.py']",
        "('src/a.py', 'src/b.py')",
        '["src/a.py","src/b.py"]',
        '"[\\"src/a.py\\", \\"src/b.py\\"]"',
        "\"src/a.py\", 'src/b.py'",
        "`src/a.py`, `src/b.py`,",
    ],
)
def test_a_text_that_is_a_list_names_several(text: str) -> None:
    assert listed_paths(text) == ["src/a.py", "src/b.py"]


def test_commas_in_braces_separate_nothing() -> None:
    assert listed_paths("src/*.{ts,tsx}, lib/*.{js,jsx}") == ["src/*.{ts,tsx}", "lib/*.{js,jsx}"]
    assert listed_paths("src/{a,{b,c}}.py") is None


@pytest.mark.parametrize("text", ["['src/a.py', b", '["src/a.py"', "{'a': 'b'}, c", "[a.py, b.py", "(a, b)"])
def test_the_pieces_of_a_list_are_no_paths(text: str) -> None:
    with pytest.raises(UnreadableList):
        listed_paths(text)


@pytest.mark.parametrize(
    "path",
    [
        *("file:///home/u/a.py", "file:a.py", "https://x.org/a.py", "vscode://file/a.py", "FILE:///a.py"),
        *("~/a.py", "~\\a.py", "~", "$HOME/a.py", "${PWD}/a.py", "$env:TEMP/a.py", "%USERPROFILE%\\a.py"),
        "!~/a.py",
    ],
)
def test_a_path_elsewhere_is_misplaced(path: str) -> None:
    assert misplaced(path)


@pytest.mark.parametrize("path", ["src/a.py src/b.py", "src/a.py  lib/**", "'src/a.py", "src/a.py`"])
def test_what_is_hardly_a_name_is_doubtful(path: str) -> None:
    assert doubtful(path)


@given(st.text(max_size=60))
def test_any_text_has_spellings_that_end(text: str) -> None:
    stripped = text.strip()
    if stripped:
        assert all(spellings(stripped))
    misplaced(text)
    doubtful(text)


@pytest.mark.parametrize(
    "text", ["[" * 1_000, "a:" * 500, "@" * 1_000, "./" * 500, "a.b" * 333 + ":", "(" * 1_000]
)
def test_no_text_takes_long(text: str) -> None:
    with within_cpu_seconds(1):
        spellings(text)
        misplaced(text)
        doubtful(text)


@pytest.mark.parametrize(
    ("path", "folded"),
    [("SRC/A.py", "src/a.py"), ("\u00c4/\u03a3.py", "\u00e4/\u03c3.py"), ("Stra\u00dfe", "stra\u00dfe")],
)
def test_a_path_is_folded_letter_by_letter(path: str, folded: str) -> None:
    assert fold_path(path) == folded
