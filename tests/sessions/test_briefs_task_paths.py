"""Paths that a task names, in any notation that people and agents use."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.briefs.questions import MOST_PATHS, in_short, paths_in
from tests.timing import within_cpu_seconds


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Fix src/api/login.py", ["src/api/login.py"]),
        ("Fix src/api/login.py, and tests/.", ["src/api/login.py", "tests/"]),
        ("In `src/api/login.py`: limit", ["src/api/login.py"]),
        ("See src/api/login.py:42 and src/b.py:7:12", ["src/api/login.py", "src/b.py"]),
        ("(src/a.py) \"src/b.py\" 'src/c.py' <src/d.py>", [f"src/{name}.py" for name in "abcd"]),
        ("Why src/a.py? Look at src/b.py! And src/c.py...", [f"src/{name}.py" for name in "abc"]),
        ("./src/a.py and .//", ["src/a.py"]),
        (r"src\api\login.py", ["src/api/login.py"]),
        ("**src/a.py** and *src/b.py*", ["src/a.py", "src/b.py"]),
        ("[src/a.py](src/a.py), [src/b.py, src/c.py]", [f"src/{name}.py" for name in "abc"]),
        ("app/[id]/page.tsx and [slug].tsx/x", ["app/[id]/page.tsx", "[slug].tsx/x"]),
        ("src/**/*.py, src/*.sql, **/migrations/", ["src/**/*.py", "src/*.sql", "**/migrations/"]),
        ("node_modules/@types/x.d.ts", ["node_modules/@types/x.d.ts"]),
        ("src/+page.svelte", ["src/+page.svelte"]),
        ("README.md, app.test.tsx, a.jsonl", ["README.md", "app.test.tsx", "a.jsonl"]),
        ("修改src/api/login.py文件,参见README.md。", ["src/api/login.py", "README.md"]),
        ("src/größe/façade.py", ["src/größe/façade.py"]),
        ("src/gro\u0308ße.py", ["src/größe.py"]),
        (".github/workflows/ci.yml", [".github/workflows/ci.yml"]),
        ("path=src/a.py File:src/b.py", ["src/a.py", "src/b.py"]),
        ("src/a.py src/a.py", ["src/a.py"]),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_the_paths_of_a_task(text: str, paths: list[str]) -> None:
    assert paths_in(text) == paths


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Limit the logins, e.g. by address, i.e. IP.",
        "Version 3.11, v1.2 and 5.5",
        "https://example.com/a/b.py and http://localhost:8000/api/v1/",
        "ada@example.com",
        "/etc/passwd ~/.bashrc C:\\temp\\x.py",
        "../other/x.py src/../x.py ./.. . .. / // ... /./",
        "*.py ** *",
        "The end.Next sentence",
        "[id] [ ] ]",
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_path(text: str) -> None:
    assert paths_in(text) == []


def test_at_most_twenty() -> None:
    assert paths_in(" ".join(f"src/{n}.py" for n in range(99))) == [f"src/{n}.py" for n in range(MOST_PATHS)]


@given(st.text(alphabet="a./\\[]*:@ ?-中é\u2028\n", max_size=60))
@example("[./a/b]")
def test_paths_have_no_blanks_and_stay_inside(text: str) -> None:
    for path in paths_in(text):
        assert path == "".join(path.split())
        assert not path.startswith("/")
        assert ".." not in path.split("/")


@pytest.mark.parametrize(
    "piece", ["[", "a", "a.", "./", "a/", "[a", "*", "-", ".a/", "\\", "中", "a/.", "]["]
)
def test_no_text_takes_long(piece: str) -> None:
    with within_cpu_seconds(0.5):
        paths_in(piece * (65_536 // len(piece)))


@pytest.mark.parametrize(
    ("task", "short"),
    [
        ("Mend backend/shop/search/ranking.py now", "Mend search ranking now"),
        ("Mend `src/.env` and app.test.ts", "Mend `src .env` and app"),
        ("Look at src/api/**", "Look at api **"),
        ("Say a/b or a/b/c", "Say a b or b c"),
        ("No path", "No path"),
    ],
)
def test_of_a_path_its_end_is_searched_for(task: str, short: str) -> None:
    assert in_short(task, paths_in(task)) == short
