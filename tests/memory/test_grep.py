"""`memory grep`: searches lines of files below allowed folders and reads nothing outside them."""

import os
import random
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import Project
from memory.grep import grep, roots
from memory.grep.roots import Budget, Root, read_texts
from tests.timing import within_cpu_seconds

pytestmark = pytest.mark.one_engine

NOBODY = 65534
SECRET = "moonshot"

Found = list[tuple[str, int, str]]


@pytest.fixture
def root(apollo: Project, tmp_path: Path, settings: Settings) -> Path:
    """A folder that every project may search."""
    folder = tmp_path / "code"
    folder.mkdir()
    settings.GREP_ROOTS = [("", folder)]
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the root, which no project may search."""
    write(tmp_path, {"elsewhere/secret.txt": f"{SECRET}\n", "elsewhere/deep/secret.txt": f"{SECRET}\n"})
    return tmp_path / "elsewhere"


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)


def answer(project: Project, pattern: str, **arguments: Any) -> dict[str, Any]:
    return grep.grep(project, pattern, **arguments).answer(as_objects=True)


def hits(project: Project, pattern: str, **arguments: Any) -> Found:
    return [
        (row["file"], row["line"], row.get("text", ""))
        for row in answer(project, pattern, **arguments)["items"]
    ]


def files(project: Project, pattern: str, **arguments: Any) -> list[str]:
    return [file for file, _, _ in hits(project, pattern, **arguments)]


# -- Results ---------------------------------------------------------------------------------------


def test_a_hit_has_file_line_and_text(apollo: Project, root: Path) -> None:
    write(root, {"src/app.py": "import os\n\ndef run():\n    os.run()\n", "README.md": "run it\n"})
    assert answer(apollo, "run") == {
        "items": [
            {"file": "README.md", "line": 1, "text": "run it"},
            {"file": "src/app.py", "line": 3, "text": "def run():"},
            {"file": "src/app.py", "line": 4, "text": "    os.run()"},
        ],
        "count": 3,
        "total": 3,
        "files": 2,
    }


def test_nothing_found_is_no_error(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "a\n", "empty.txt": ""})
    assert answer(apollo, "b") == {"items": [], "count": 0, "total": 0, "files": 0}
    assert answer(apollo, "^$")["total"] == 0


def test_the_search_is_case_sensitive_by_default(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "Cache\ncache\nÉTAT\n"})
    assert [line for _, line, _ in hits(apollo, "cache")] == [2]
    assert [line for _, line, _ in hits(apollo, "cache", ignore_case=True)] == [1, 2]
    assert [line for _, line, _ in hits(apollo, "état", ignore_case=True)] == [3]


def test_context_lines_add_the_lines_around_a_hit(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "".join(f"line {n}\n" for n in range(1, 8))})
    [row] = answer(apollo, "line 2", context_lines=2)["items"]
    assert (row["before"], row["after"]) == (["line 1"], ["line 3", "line 4"])
    [row] = answer(apollo, "line 7", context_lines=1)["items"]
    assert row == {"file": "a.txt", "line": 7, "text": "line 7", "before": ["line 6"]}


def test_limit_bounds_the_rows_and_not_the_total(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "x\n" * 30, "b.txt": "x\n" * 30})
    found = answer(apollo, "x", limit=10)
    assert (found["count"], found["total"], found["files"]) == (10, 60, 2)
    assert answer(apollo, "x")["count"] == 50


def test_the_total_counts_to_a_thousand(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "x\n" * 1_000})
    assert "more" not in answer(apollo, "x", limit=1)
    write(root, {"b.txt": "x\n" * 1_000})
    found = answer(apollo, "x", limit=1)
    assert (found["total"], found["more"]) == (1_000, True)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("src", ["src/a.py", "src/deep/b.py"]),
        ("src/", ["src/a.py", "src/deep/b.py"]),
        ("./src/deep", ["src/deep/b.py"]),
        ("src/a.py", ["src/a.py"]),
        (".", ["c.py", "src/a.py", "src/deep/b.py"]),
        ("", ["c.py", "src/a.py", "src/deep/b.py"]),
    ],
)
def test_a_path_names_a_folder_or_a_file(apollo: Project, root: Path, path: str, found: list[str]) -> None:
    write(root, {"src/a.py": "x", "src/deep/b.py": "x", "c.py": "x"})
    assert files(apollo, "x", path=path) == found


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/a.py", "src/deep/b.py"]),
        ("a.*", ["a.md", "a.py", "src/a.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/b.py"]),
        ("**/deep/*", ["src/deep/b.py"]),
        ("src/", ["src/a.py", "src/deep/b.py"]),
        ("./a.py", ["a.py", "src/a.py"]),
        ("*.rs", []),
    ],
)
def test_a_glob_chooses_files(apollo: Project, root: Path, glob: str, found: list[str]) -> None:
    write(root, {"src/a.py": "x", "src/deep/b.py": "x", "a.py": "x", "a.md": "x"})
    assert files(apollo, "x", glob=glob) == found


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.{py,md}", ["a.md", "a.py", "src/a.py", "src/deep/b.py"]),
        ("src/{deep,}/*.py", ["src/a.py", "src/deep/b.py"]),
        ("{src,a}/*.py", ["src/a.py"]),
        ("{a,b}.py", ["a.py", "src/a.py", "src/deep/b.py", "{a,b}.py"]),
        ("{x,y}.py", []),
    ],
)
def test_braces_choose_files(apollo: Project, root: Path, glob: str, found: list[str]) -> None:
    names = ["src/a.py", "src/deep/b.py", "a.py", "a.md", *(["{a,b}.py"] if glob == "{a,b}.py" else [])]
    write(root, dict.fromkeys(names, "x"))
    assert sorted(files(apollo, "x", glob=glob)) == found


def test_a_pattern_is_matched_line_by_line(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "one\ntwo\r\n\r\nthree\n"})
    assert [line for _, line, _ in hits(apollo, r"\Atwo\z")] == [2]
    assert [line for _, line, _ in hits(apollo, "^two$")] == [2]
    assert [line for _, line, _ in hits(apollo, "^$")] == [3]
    assert not hits(apollo, r"one\s+two")
    assert not hits(apollo, "(?s)one.*three")
    assert [line for _, line, _ in hits(apollo, "(?-m)^three$")] == [4]


def test_a_pattern_that_looks_like_an_option_is_a_pattern(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "run --pre=sh now\n", "-e": "x\n"})
    assert files(apollo, "--pre=sh") == ["a.txt"]
    assert files(apollo, "x", path="-e", glob="-*") == ["-e"]


def test_lines_of_a_large_file_keep_their_numbers(apollo: Project, root: Path) -> None:
    """Large files are searched in blocks."""
    rng = random.Random(1)
    lines = ["x" * rng.choice([0, 1, 70, 900]) for _ in range(4_000)]
    expected = sorted(rng.sample(range(4_000), 40))
    for index in expected:
        lines[index] += "needle"
    write(root, {"a.txt": "\n".join(lines)})
    assert [line - 1 for _, line, _ in hits(apollo, "needle$", limit=200)] == expected
    assert hits(apollo, r"needle\z", limit=200) == hits(apollo, "needle$", limit=200)


def test_a_long_line_is_cut_around_the_hit(apollo: Project, root: Path) -> None:
    write(root, {"a.js": f"{'a' * 5_000}needle{'b' * 5_000}", "b.js": f"needle{'b' * 400}"})
    (_, _, middle), (_, _, start) = hits(apollo, "needle")
    assert middle == f"…{'a' * 100}needle{'b' * 194}…"
    assert start == f"needle{'b' * 294}…"


def test_files_that_are_not_utf_8_are_read(apollo: Project, root: Path) -> None:
    write(root, {"latin.txt": "caf\xe9 needle".encode("latin-1"), "bom.txt": b"\xef\xbb\xbfneedle"})
    assert hits(apollo, "needle$") == [("bom.txt", 1, "needle"), ("latin.txt", 1, "caf� needle")]
    assert files(apollo, "^needle") == ["bom.txt"]


def test_file_names_that_are_not_utf_8_are_decoded_with_replacement(apollo: Project, root: Path) -> None:
    folder = os.fsencode(root) + b"/d\xff"
    os.mkdir(folder)
    Path(os.fsdecode(folder + b"/f\xfe.txt")).write_text("x")
    assert files(apollo, "x") == ["d�/f�.txt"]


# -- Skipped files ---------------------------------------------------------------------------------


def test_binary_and_large_files_are_skipped(apollo: Project, root: Path) -> None:
    write(
        root,
        {
            "binary": b"x\0x",
            "large.txt": b"x\n" * (1024 * 1024 + 1),
            "late.txt": b"x" * 9_000 + b"\0",
            "text.txt": "x",
        },
    )
    assert files(apollo, "x") == ["late.txt", "text.txt"]
    assert files(apollo, "x", path="binary") == []
    assert files(apollo, "x", path="large.txt") == []


@pytest.mark.parametrize("name", [".env", ".git/config", "src/.cache/a.txt"])
def test_hidden_files_are_not_found(apollo: Project, root: Path, name: str) -> None:
    write(root, {name: SECRET})
    assert not hits(apollo, SECRET)
    for path in (name, os.path.dirname(name) or name):
        if any(part.startswith(".") for part in path.split("/")):
            with pytest.raises(NotFound):
                hits(apollo, SECRET, path=path)


def test_installed_packages_are_searched_only_if_the_path_names_them(apollo: Project, root: Path) -> None:
    write(root, {"node_modules/a/index.js": "x", "src/index.js": "x"})
    assert files(apollo, "x") == ["src/index.js"]
    assert files(apollo, "x", path="node_modules/a") == ["node_modules/a/index.js"]


def test_the_data_folder_of_the_server_is_not_searched(
    apollo: Project, root: Path, settings: Settings
) -> None:
    """The data folder holds the secret key."""
    write(root, {"var/secret_key": SECRET, "var/static/a.txt": SECRET, "variety.txt": SECRET})
    settings.VAR_DIR = root / "var"
    assert files(apollo, SECRET) == ["variety.txt"]
    for path in ("var", "var/secret_key", "var/static", "var/static/a.txt"):
        with pytest.raises(NotFound):
            hits(apollo, SECRET, path=path)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Runs as the user nobody where the tests run as root, who may read everything."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(own)


def test_unreadable_files_are_skipped(apollo: Project, settings: Settings) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        write(folder, {"closed/a.txt": "x", "closed.txt": "x", "open.txt": "x"})
        folder.chmod(0o755)
        (folder / "closed").chmod(0)
        (folder / "closed.txt").chmod(0)
        settings.GREP_ROOTS = [("", folder)]
        with as_nobody():
            assert files(apollo, "x") == ["open.txt"]
            assert files(apollo, "x", path="closed.txt") == []
            with pytest.raises(NotFound):
                hits(apollo, "x", path="closed")
    finally:
        (folder / "closed").chmod(0o755)
        shutil.rmtree(folder)


def test_pipes_sockets_and_devices_do_not_block(apollo: Project, root: Path) -> None:
    write(root, {"a.txt": "x"})
    os.mkfifo(root / "pipe")
    os.mkfifo(root / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(root / "socket")) if len(str(root)) < 90 else None
    if os.geteuid() == 0:
        with_device = root / "zero"
        with suppress(OSError):
            os.mknod(with_device, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    assert files(apollo, "x") == ["a.txt"]
    with pytest.raises(NotFound):
        hits(apollo, "x", path="pipe")


def test_a_file_that_becomes_a_pipe_before_it_is_opened_does_not_block(root: Path) -> None:
    write(root, {"a.txt": "x", "b.txt": "x"})
    texts = read_texts(Root("code", root), "", lambda place, is_folder: True, Budget())
    assert next(texts) == ("a.txt", "x")
    (root / "b.txt").unlink()
    os.mkfifo(root / "b.txt")
    assert list(texts) == []


# -- Paths and links out of the root ---------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/",
        "..",
        "../elsewhere",
        "src/../../elsewhere",
        "..\\elsewhere",
        "C:/x",
        "~/../x/..",
        "~",
    ],
)
def test_a_path_that_is_absolute_or_leaves_the_root_is_refused(
    apollo: Project, root: Path, outside: Path, path: str
) -> None:
    with pytest.raises(InvalidInput, match=r"path: .* (must be|a path is) relative"):
        hits(apollo, SECRET, path=path)


@pytest.mark.parametrize("path", ["nowhere", "a.txt/b", "a.txt/", "code", "src x", "x" * 300])
def test_an_unknown_path_is_not_found(apollo: Project, root: Path, path: str) -> None:
    write(root, {"a.txt": "x"})
    if path == "a.txt/":
        assert files(apollo, "x", path=path) == ["a.txt"]
        return
    with pytest.raises(NotFound, match="There is no file or folder"):
        hits(apollo, "x", path=path)


@pytest.mark.parametrize("target", ["../elsewhere", "../elsewhere/secret.txt", "/etc/passwd", "/"])
def test_links_out_of_the_root_are_not_followed(
    apollo: Project, root: Path, outside: Path, target: str
) -> None:
    (root / "link").symlink_to(target)
    assert not hits(apollo, ".")
    for path in ("link", "link/secret.txt", "link/deep"):
        with pytest.raises(NotFound):
            hits(apollo, ".", path=path)


def test_a_chain_of_links_out_of_the_root_is_not_followed(apollo: Project, root: Path, outside: Path) -> None:
    write(root, {"src/a.txt": "x"})
    (root / "one").symlink_to("src/two")
    (root / "src/two").symlink_to(outside)
    with pytest.raises(NotFound):
        hits(apollo, ".", path="one/secret.txt")


def test_links_to_hidden_files_are_not_followed(apollo: Project, root: Path) -> None:
    write(root, {".env": SECRET, ".git/config": SECRET})
    (root / "env").symlink_to(".env")
    (root / "git").symlink_to(".git")
    assert not hits(apollo, SECRET)
    for path in ("env", "git", "git/config"):
        with pytest.raises(NotFound):
            hits(apollo, SECRET, path=path)


def test_files_behind_inner_links_are_found_once_and_by_any_path(apollo: Project, root: Path) -> None:
    write(root, {"src/a.txt": "x"})
    (root / "again").symlink_to("src")
    (root / "src/loop").symlink_to("..")
    assert files(apollo, "x") == ["src/a.txt"]
    assert files(apollo, "x", path="again/a.txt") == ["src/a.txt"]
    assert files(apollo, "x", path="src/loop/src") == ["src/a.txt"]


def test_a_sibling_folder_with_the_prefix_of_the_root_is_outside(
    apollo: Project, root: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"code-private/secret.txt": SECRET})
    (root / "link").symlink_to("../code-private")
    with pytest.raises(NotFound):
        hits(apollo, SECRET, path="link")


def test_a_root_may_be_a_link_itself(apollo: Project, root: Path, tmp_path: Path, settings: Settings) -> None:
    write(root, {"src/a.txt": "x"})
    (tmp_path / "current").symlink_to(root)
    settings.GREP_ROOTS = [("", tmp_path / "current")]
    assert files(apollo, "x", path="src") == ["src/a.txt"]


def swap(root: Path, name: str, target: Path) -> None:
    """Replaces a path with a link, as an attacker may between two steps of a search."""
    (root / name).rename(root.parent / f"was-{name}")
    (root / name).symlink_to(target)


def test_a_folder_swapped_for_a_link_is_not_read(root: Path, outside: Path) -> None:
    write(root, {"a.txt": "x", "b/secret.txt": "x"})
    texts = read_texts(Root("code", root), "", lambda place, is_folder: True, Budget())
    assert next(texts) == ("a.txt", "x")
    swap(root, "b", outside)
    assert list(texts) == []


def test_a_file_swapped_for_a_link_is_not_read(root: Path, outside: Path) -> None:
    write(root, {"a.txt": "x", "b.txt": "x"})
    texts = read_texts(Root("code", root), "", lambda place, is_folder: True, Budget())
    assert next(texts) == ("a.txt", "x")
    swap(root, "b.txt", outside / "secret.txt")
    assert list(texts) == []


def test_a_folder_swapped_after_the_path_check_is_not_read(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real path is inside the root when it is checked and outside when it is opened."""
    write(root, {"b/deep/secret.txt": "x"})
    real_parts = roots._real_parts

    def check_then_swap(root_: Root, path: str) -> list[str]:
        parts = real_parts(root_, path)
        swap(root, "b", outside)
        return parts

    monkeypatch.setattr(roots, "_real_parts", check_then_swap)
    with pytest.raises(NotFound):
        list(read_texts(Root("code", root), "b/deep", lambda place, is_folder: True, Budget()))


def test_no_file_stays_open(apollo: Project, root: Path) -> None:
    write(root, {f"d{n}/deep/a.txt": "x\n" * 100 for n in range(30)})
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        answer(apollo, "x")
        with pytest.raises(NotFound):
            hits(apollo, "x", path="d1/deep/nowhere")
    assert len(os.listdir("/proc/self/fd")) == before


# -- Roots of projects -----------------------------------------------------------------------------


def test_without_a_root_grep_is_not_allowed(apollo: Project) -> None:
    with pytest.raises(NotAllowed, match="No folder") as refused:
        hits(apollo, "x")
    assert "CTXHUB_GREP_ROOTS" in refused.value.hint


def test_the_root_of_another_project_is_not_searched(
    apollo: Project, hermes: Project, tmp_path: Path, settings: Settings
) -> None:
    write(tmp_path, {"moon/a.txt": SECRET, "shared/b.txt": SECRET})
    settings.GREP_ROOTS = [("apollo", tmp_path / "moon")]
    assert files(apollo, SECRET) == ["a.txt"]
    with pytest.raises(NotAllowed):
        hits(hermes, SECRET)
    settings.GREP_ROOTS = [("apollo", tmp_path / "moon"), ("", tmp_path / "shared")]
    assert files(apollo, SECRET) == ["moon/a.txt", "shared/b.txt"]
    assert files(hermes, SECRET) == ["b.txt"]
    with pytest.raises(NotFound) as refused:
        hits(hermes, SECRET, path="moon")
    assert "moon" not in refused.value.hint


def test_a_path_begins_with_a_root_when_there_are_several(
    apollo: Project, tmp_path: Path, settings: Settings
) -> None:
    write(tmp_path, {"api/src/a.txt": "x", "web/src/b.txt": "x"})
    settings.GREP_ROOTS = [("", tmp_path / "api"), ("", tmp_path / "web")]
    assert files(apollo, "x") == ["api/src/a.txt", "web/src/b.txt"]
    assert files(apollo, "x", path="./web/src") == ["web/src/b.txt"]
    assert files(apollo, "x", path="web", glob="src/*") == ["web/src/b.txt"]
    with pytest.raises(NotFound, match="no folder 'src'") as refused:
        hits(apollo, "x", path="src")
    assert refused.value.hint == "A path begins with one of: 'api', 'web'."


def test_a_missing_root_is_named_without_its_path(
    apollo: Project, tmp_path: Path, settings: Settings
) -> None:
    settings.GREP_ROOTS = [("", tmp_path / "unmounted")]
    with pytest.raises(NotFound, match="The folder 'unmounted' is not there now") as refused:
        hits(apollo, "x")
    assert str(tmp_path) not in refused.value.message


# -- Bad input and limits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "pattern is no regular expression: missing \\)"),
        ("a(?=b)", "pattern is no regular expression"),
        (r"(a)\1", "pattern is no regular expression"),
        ("*", "pattern is no regular expression"),
        ("(.{50}){10}", "pattern is too large: .* the limit is 1,000"),
        ("", "pattern must not be blank"),
        ("a\0", "pattern holds a NUL"),
        ("\ud800", "pattern holds half of a surrogate pair"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_reason(
    apollo: Project, root: Path, pattern: str, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        hits(apollo, pattern)


@pytest.mark.parametrize(
    "bad",
    [{"limit": 0}, {"limit": 201}, {"context_lines": -1}, {"context_lines": 6}, {"glob": "../*"}],
)
def test_arguments_out_of_bounds_are_refused(apollo: Project, root: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        hits(apollo, "x", **bad)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+b", "(x+x+)+y", "(.*a){12}b", "(a|b)*a(a|b){300}c"])
def test_no_pattern_exceeds_the_time_limit(apollo: Project, root: Path, pattern: str) -> None:
    rng = random.Random(2)
    line = "".join(rng.choice("ab") for _ in range(200_000))
    write(root, {f"{n}.txt": f"{'a' * 100_000}!\n{'x' * 100_000}\n{line}" for n in range(5)})
    with within_cpu_seconds(4):
        answer(apollo, pattern)


def test_time_is_limited_and_the_answer_says_so(
    apollo: Project, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {f"{n}.txt": "x" for n in range(5)})
    monkeypatch.setattr(roots, "SECONDS", -1.0)
    assert answer(apollo, "x")["truncated"] is True


@pytest.mark.parametrize("limit", ["MOST_FILES", "MOST_ENTRIES"])
def test_files_are_limited_and_the_answer_says_so(
    apollo: Project, root: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    write(root, {f"{n}.txt": "x" for n in range(5)})
    assert "truncated" not in answer(apollo, "x")
    monkeypatch.setattr(roots, limit, 3)
    budget = Budget()
    texts = list(read_texts(Root("code", root), "", lambda place, is_folder: True, budget))
    assert len(texts) == 3
    assert budget.is_partial


def test_depth_is_limited_and_the_answer_says_so(apollo: Project, root: Path) -> None:
    write(root, {f"{'d/' * n}a.txt": "x" for n in (roots.DEEPEST, roots.DEEPEST + 1)})
    found = answer(apollo, "x")
    assert (found["total"], found["truncated"]) == (1, True)


def test_the_end_of_a_very_long_line_is_not_searched(apollo: Project, root: Path) -> None:
    write(root, {"a.js": f"{'a' * grep.LONGEST_LINE}needle", "b.js": "needle"})
    found = answer(apollo, "needle")
    assert (found["total"], found["truncated"]) == (1, True)


def test_many_files_are_searched_within_the_time(apollo: Project, root: Path) -> None:
    text = "".join(f"    return self.value_{n} + other.value_{n}\n" for n in range(200))
    write(root, {f"p{n % 50}/m{n}.py": text for n in range(2_000)})
    write(root, {"z/last.py": "needle"})
    found = answer(apollo, "nee+dle")
    assert (found["total"], found.get("truncated")) == (1, None)
