"""How a hook names files: relative to the top of the repository, whatever the system and the client write."""

import ntpath
import os
import posixpath
from pathlib import Path

import pytest
from ctxhub_client.git import find_repository
from ctxhub_client.paths import Project, path_below

from tests.integrations.hook import Workplace


def project(at: Path) -> Project:
    return Project(str(at))


@pytest.mark.parametrize("folder", [".", "src", "src/deep/er"])
def test_the_top_is_what_git_says(workplace: Workplace, folder: str) -> None:
    at = workplace.repository / folder
    at.mkdir(parents=True, exist_ok=True)
    found = find_repository(str(at))
    assert found
    assert found.top == workplace.git("rev-parse", "--show-toplevel", at=at)
    assert found.branch == "main"


def test_a_file_is_named_from_the_top_wherever_the_client_is(workplace: Workplace) -> None:
    file = workplace.write("src/a b/ä.py")
    for folder in (workplace.repository, workplace.repository / "src"):
        assert project(folder).relative(str(file)) == "src/a b/ä.py"
    assert project(workplace.repository / "src").relative("a b/new.py") == "src/a b/new.py"
    assert project(workplace.repository).relative("./src/../absent/new.py") == "absent/new.py"


def test_a_link_to_the_repository_names_the_same_files(workplace: Workplace) -> None:
    link = workplace.folder / "link"
    link.symlink_to(workplace.repository)
    assert project(link).relative(str(link / "src" / "app.py")) == "src/app.py"
    assert project(workplace.repository).relative(str(link / "app.py")) == "app.py"


def test_without_git_files_are_named_from_the_folder_of_the_client(tmp_path: Path) -> None:
    assert project(tmp_path).relative(str(tmp_path / "src" / "app.py")) == "src/app.py"
    assert project(tmp_path).relative("/etc/hosts") == ""


def test_without_git_the_project_of_claude_code_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    assert project(tmp_path / "src").relative("app.py") == "src/app.py"


def committed(workplace: Workplace) -> Workplace:
    workplace.write("src/app.py")
    workplace.git("add", ".")
    workplace.git("commit", "-qm", "First.")
    return workplace


@pytest.mark.parametrize("place", ["../other", ".claude/worktrees/other"])
def test_a_file_in_a_worktree_has_the_same_name(workplace: Workplace, place: str) -> None:
    committed(workplace).git("worktree", "add", "-q", "-b", "feature/x", place)
    worktree = (workplace.repository / place).resolve()
    for at in (workplace.repository, worktree):
        assert project(at).relative(str(worktree / "src" / "app.py")) == "src/app.py"
    found = find_repository(str(worktree / "src"))
    assert found
    assert (found.top, found.branch) == (str(worktree), "feature/x")


def test_a_file_of_a_submodule_is_named_from_the_outer_repository(workplace: Workplace) -> None:
    committed(workplace)
    inner = Workplace(workplace.folder / "inner")
    inner.git("init", "-q")
    committed(inner)
    allow = ("-c", "protocol.file.allow=always")
    workplace.git(*allow, "submodule", "add", "-q", str(inner.repository), "vendor/inner")
    file = workplace.repository / "vendor" / "inner" / "src" / "app.py"
    assert file.exists()
    assert project(workplace.repository).relative(str(file)) == "vendor/inner/src/app.py"
    assert project(file.parent).relative(str(file)) == "vendor/inner/src/app.py"
    assert project(file.parent).prefix == "vendor/inner/"
    assert project(workplace.repository).prefix == project(inner.repository).prefix == ""
    other = inner.repository / "src" / "app.py"
    assert project(file.parent).relative(str(other)) == "", "another clone is another project"


def test_a_file_of_another_repository_is_none_of_the_project(workplace: Workplace, tmp_path: Path) -> None:
    other = Workplace(tmp_path / "other")
    for each in (workplace, other):
        each.git("init", "-q")
    assert project(workplace.repository).names(str(other.write("src/app.py"))) == []


def test_the_repository_that_the_client_was_started_in_counts_from_elsewhere(
    workplace: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Workplace(tmp_path / "other")
    other.git("init", "-q")
    file = str(committed(workplace).write("src/new.py"))
    assert project(other.repository).names(file) == []
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(workplace.repository))
    assert project(other.repository).names(file) == ["src/new.py"]
    assert project(tmp_path).names(file) == ["src/new.py"]


def test_repositories_below_the_folder_of_the_client_name_their_files(workplace: Workplace) -> None:
    file = workplace.write("src/app.py")
    assert project(workplace.folder).names(str(file)) == ["src/app.py"]
    assert project(workplace.folder).names(str(workplace.folder / "notes.md")) == ["notes.md"]


def test_a_repository_in_another_one(workplace: Workplace) -> None:
    """It is a part of the other for a client in that, and a project of its own for one in it."""
    committed(workplace)
    inner = workplace.repository / "lib" / "inner"
    inner.mkdir(parents=True)
    workplace.git("init", "-q", at=inner)
    file = str(workplace.write("lib/inner/src/app.py"))
    assert project(workplace.repository).names(file) == ["lib/inner/src/app.py"]
    assert project(inner).names(file) == ["src/app.py", "lib/inner/src/app.py"]


def test_a_link_has_the_name_of_what_it_leads_to_and_its_own(workplace: Workplace) -> None:
    workplace.write("lib/real.py")
    (workplace.repository / "src").mkdir()
    (workplace.repository / "src" / "link.py").symlink_to("../lib/real.py")
    (workplace.repository / "shown").symlink_to("lib")
    outside = workplace.folder / "outside.py"
    outside.write_text("")
    (workplace.repository / "out.py").symlink_to(outside)
    (workplace.repository / "gone.py").symlink_to("nowhere/x.py")
    at = project(workplace.repository)
    top = workplace.folder / "link"
    top.symlink_to(workplace.repository)
    for folder in (workplace.repository, top):
        assert at.names(str(folder / "src" / "link.py")) == ["lib/real.py", "src/link.py"]
        assert at.names(str(folder / "shown" / "real.py")) == ["lib/real.py", "shown/real.py"]
        assert at.names(str(folder / "shown" / "new.py")) == ["lib/new.py", "shown/new.py"]
        assert at.names(str(folder / "out.py")) == ["out.py"]
        assert at.names(str(folder / "gone.py")) == ["nowhere/x.py", "gone.py"]
        assert at.names(str(folder / "lib" / "real.py")) == ["lib/real.py"]


def test_a_detached_head_is_named_by_its_hash(workplace: Workplace) -> None:
    committed(workplace).git("checkout", "-q", "--detach")
    found = find_repository(str(workplace.repository))
    assert found
    assert found.branch == workplace.git("rev-parse", "HEAD")[:12]


@pytest.mark.parametrize(
    ("top", "file", "expected"),
    [
        (r"C:\repos\shop", r"C:\repos\shop\src\a b.py", "src/a b.py"),
        (r"C:\repos\shop", r"c:\Repos\shop\src\app.py", "src/app.py"),
        (r"C:\repos\shop", "C:/repos/shop/src/app.py", "src/app.py"),
        (r"C:\repos\shop", r"D:\work\shop\src\app.py", ""),
        (r"C:\repos\shop", r"C:\repos\shopping\app.py", ""),
        (r"\\server\share\shop", r"\\server\share\shop\app.py", "app.py"),
    ],
)
def test_paths_of_windows_are_named_with_slashes(top: str, file: str, expected: str) -> None:
    assert path_below(top, file, ntpath) == expected


@pytest.mark.parametrize(
    "file", ["/repos/shop", "/repos", "/repos/shop/.git/config", "/repos/shop/" + "a/" * 600 + "b"]
)
def test_what_is_no_file_of_the_project_has_no_name(file: str) -> None:
    assert path_below("/repos/shop", file, posixpath) == ""


def test_a_name_that_is_not_utf_8_does_no_harm(workplace: Workplace) -> None:
    name = os.fsdecode(b"\xff.py")
    assert project(workplace.repository).relative(name) == name
