"""The program in the user's data folder: complete or not at all, and started faster than an archive."""

import json
from pathlib import Path

import pytest

from ctxhub.connect.archive import NAME, build_archive, client_archive
from tests.integrations.hook import PACKAGE, Run, Workplace, copy_package, finished, put_archive


@pytest.fixture
def archive(workplace: Workplace) -> Path:
    return put_archive(workplace.folder / "downloads")


def data_folder(workplace: Workplace) -> Path:
    return workplace.folder / "home" / ".local" / "share" / "ctxhub"


def launcher(workplace: Workplace) -> Path:
    return data_folder(workplace) / "ctxhub.py"


def install(workplace: Workplace, archive: Path, *arguments: str, command: str = "install") -> Run:
    run = workplace.run(command, *arguments, script=archive)
    assert (run.code, run.err) == (0, "")
    return run


def another_version(workplace: Workplace, text: str = "another") -> Path:
    package = workplace.folder / text / PACKAGE.name
    copy_package(package)
    (package / "help.py").write_text(f'HELP = "{text}\\n"\n')
    file = workplace.folder / text / NAME
    file.write_bytes(build_archive(package).content)
    return file


def versions(workplace: Workplace) -> set[str]:
    return {path.name for path in data_folder(workplace).iterdir() if path.is_dir()}


def test_what_is_unpacked_runs(workplace: Workplace, archive: Path) -> None:
    said = install(workplace, archive).out
    assert f"{launcher(workplace)}: written." in said
    assert f"python3 {launcher(workplace)} install claude-code|" in said
    archive.unlink()
    assert (
        workplace.run("--version", script=launcher(workplace)).out == f"ctxhub {client_archive().version}\n"
    )


def test_it_is_for_its_owner_alone_and_has_bytecode(workplace: Workplace, archive: Path) -> None:
    install(workplace, archive)
    folder = data_folder(workplace) / client_archive().version
    assert folder.stat().st_mode & 0o077 == 0
    compiled = {path.name.partition(".")[0] for path in folder.rglob("*.pyc")}
    assert compiled == {path.stem for path in folder.rglob("*.py")}


def test_unpacking_again_changes_nothing(workplace: Workplace, archive: Path) -> None:
    install(workplace, archive)
    before = {path: path.stat().st_mtime_ns for path in data_folder(workplace).rglob("*.py")}
    assert "nothing to change" in install(workplace, archive).out
    assert {path: path.stat().st_mtime_ns for path in data_folder(workplace).rglob("*.py")} == before


def test_what_is_damaged_is_mended(workplace: Workplace, archive: Path) -> None:
    install(workplace, archive)
    hub = data_folder(workplace) / client_archive().version / PACKAGE.name / "hub.py"
    hub.unlink()
    assert "written" in install(workplace, archive).out
    assert hub.exists()
    assert versions(workplace) == {client_archive().version}


def test_another_version_takes_its_place_and_the_one_before_may_still_run(
    workplace: Workplace, archive: Path
) -> None:
    install(workplace, archive)
    install(workplace, another_version(workplace))
    assert workplace.run("help", script=launcher(workplace)).out == "another\n"
    assert len(versions(workplace)) == 2
    install(workplace, another_version(workplace, "third"))
    assert client_archive().version not in versions(workplace)
    assert len(versions(workplace)) == 2


def test_two_at_once_leave_one_whole_version(workplace: Workplace, archive: Path) -> None:
    started = [workplace.start("install", script=archive) for _ in range(4)]
    assert [(run.code, run.err) for run in map(finished, started)] == [(0, "")] * 4
    assert versions(workplace) == {client_archive().version}
    assert workplace.run("--version", script=launcher(workplace)).code == 0


def test_hooks_name_what_is_unpacked_and_not_the_download(at_stub: Workplace) -> None:
    install(at_stub, put_archive(at_stub.folder / "downloads", at_stub.limits), "claude-code")
    settings = json.loads((at_stub.repository / ".claude" / "settings.local.json").read_text())
    command = settings["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command == f"python3 -IS {launcher(at_stub)} hook claude"
    run = at_stub.run(
        "hook", "claude", stdin=at_stub.input("session_start_startup"), script=launcher(at_stub)
    )
    assert run.context


@pytest.mark.parametrize("what", ["codex", "pre-commit"])
def test_so_do_the_others_that_are_run(workplace: Workplace, archive: Path, what: str) -> None:
    install(workplace, archive, what)
    file = {"codex": ".codex/hooks.json", "pre-commit": ".git/hooks/pre-commit"}[what]
    assert str(launcher(workplace)) in (workplace.repository / file).read_text()


def test_rules_need_no_program(workplace: Workplace, archive: Path) -> None:
    install(workplace, archive, "agents-md")
    assert not data_folder(workplace).exists()


def test_the_data_folder_may_be_another(workplace: Workplace, archive: Path) -> None:
    workplace.variables["XDG_DATA_HOME"] = str(workplace.folder / "data")
    install(workplace, archive)
    assert (workplace.folder / "data" / "ctxhub" / "ctxhub.py").exists()


def test_it_is_taken_away_again_with_nothing_of_others(workplace: Workplace, archive: Path) -> None:
    install(workplace, archive)
    other = data_folder(workplace) / "notes"
    other.mkdir()
    assert "removed" in install(workplace, archive, command="uninstall").out
    assert list(data_folder(workplace).iterdir()) == [other]
    other.rmdir()
    install(workplace, archive)
    install(workplace, archive, command="uninstall")
    assert not data_folder(workplace).exists()
    assert "nothing to remove" in install(workplace, archive, command="uninstall").out


def test_a_folder_that_cannot_be_written_is_told(workplace: Workplace, archive: Path) -> None:
    data_folder(workplace).parent.mkdir(parents=True)
    data_folder(workplace).write_text("a file where a folder should be")
    run = workplace.run("install", script=archive)
    assert (run.code, run.out) == (1, "")
    assert str(data_folder(workplace)) in run.err
