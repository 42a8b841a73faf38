"""The file of a backup: `tar` opens it, and whatever is torn, changed or hostile is refused."""

import io
import json
import tarfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxhub.management.backups.archive import (
    Archive,
    describe,
    open_archive,
    pack,
    private_file,
    unpack,
    write_archive,
)
from ctxhub.management.backups.manifest import KEY, BadBackup, Manifest

DATABASE = "database.sqlite3.gz"
CONTENT = b"what is stored " * 5_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup with 75,000 bytes of database."""
    folder = tmp_path_factory.mktemp("backups")
    (folder / "key").write_text("k" * 60)
    (folder / "content").write_bytes(CONTENT)
    pack(folder / "content", folder / "packed")
    files = {KEY: folder / "key", DATABASE: folder / "packed"}
    manifest = Manifest(
        version="1",
        engine="sqlite",
        hub="h",
        created_at=datetime(2026, 11, 27, tzinfo=UTC),
        key="m",
        fallback_keys=0,
        migrations=("core.0001_initial",),
        tables={"core_project": 1},
        members={KEY: describe(files[KEY]), DATABASE: describe(files[DATABASE], unpacked_bytes=len(CONTENT))},
    )
    write_archive(folder / "whole.tar", manifest, files)
    return folder / "whole.tar"


def read_all(path: Path) -> Archive:
    """As a restore does."""
    archive = open_archive(path)
    archive.check()
    return archive


def test_tar_opens_it(whole: Path) -> None:
    with tarfile.open(whole) as archive:
        assert archive.getnames() == ["manifest.json", KEY, DATABASE]
        assert {member.mode for member in archive} == {0o600}
        manifest = json.load(archive.extractfile("manifest.json") or io.BytesIO())
    assert manifest["tables"] == {"core_project": 1}


def test_what_was_written_is_read(whole: Path, tmp_path: Path) -> None:
    archive = read_all(whole)
    assert archive.read(KEY, at_most=4096) == b"k" * 60
    archive.copy(DATABASE, tmp_path / "packed")
    unpack(tmp_path / "packed", tmp_path / "database", expected_bytes=len(CONTENT))
    assert (tmp_path / "database").read_bytes() == CONTENT
    assert (tmp_path / "database").stat().st_mode & 0o777 == 0o600


@given(at=st.integers(0, 10_000), changed=st.integers(1, 255))
def test_no_changed_byte_is_taken_for_the_backup(whole: Path, at: int, changed: int) -> None:
    content = bytearray(whole.read_bytes())
    at %= len(content)
    content[at] ^= changed
    other = whole.with_name("changed.tar")
    other.write_bytes(content)
    try:
        archive = read_all(other)
    except BadBackup:
        return
    # What is left: a name of the owner in a header, or what a restore compares: a text of the manifest, the
    # size of the unpacked database.
    own = read_all(whole)
    assert archive.manifest.members[KEY] == own.manifest.members[KEY]
    database, own_database = (read.manifest.members[DATABASE] for read in (archive, own))
    assert (database.bytes, database.sha256) == (own_database.bytes, own_database.sha256)
    assert [archive.read(name, at_most=10**6) for name in (KEY, DATABASE)] == [
        own.read(name, at_most=10**6) for name in (KEY, DATABASE)
    ]


def test_a_size_of_the_key_that_it_cannot_have_is_refused(whole: Path) -> None:
    other = whole.with_name("changed.tar")
    other.write_bytes(whole.read_bytes().replace(b'"unpacked_bytes": 60', b'"unpacked_bytes": 70'))
    with pytest.raises(BadBackup, match="damaged"):
        read_all(other)


@given(size=st.integers(0, 10_000))
def test_a_torn_file_is_refused(whole: Path, size: int) -> None:
    content = whole.read_bytes()
    torn = whole.with_name("torn.tar")
    torn.write_bytes(content[: size % len(content)])
    with pytest.raises(BadBackup):
        read_all(torn)


def test_a_longer_file_is_refused(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "longer").write_bytes(whole.read_bytes() + b"x")
    with pytest.raises(BadBackup, match="too late"):
        open_archive(tmp_path / "longer")


def tar_of(path: Path, *members: tuple[str, bytes, dict[str, Any]]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content, values in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for field, value in values.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(content))
    return path


def manifest_of(whole: Path, **changes: Any) -> bytes:
    values = json.loads(open_archive(whole).manifest.to_json())
    return json.dumps({**values, **changes}).encode()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("../escaped", {}),
        ("/tmp/escaped", {}),
        ("manifest.json", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
        ("manifest.json", {"type": tarfile.LNKTYPE, "linkname": "secret_key"}),
        ("manifest.json", {"type": tarfile.DIRTYPE}),
        ("manifest.json", {"type": tarfile.CHRTYPE}),
    ],
)
def test_links_devices_and_other_paths_are_refused(tmp_path: Path, name: str, values: dict[str, Any]) -> None:
    with pytest.raises(BadBackup):
        open_archive(tar_of(tmp_path / "hostile.tar", (name, b"", values)))


@pytest.mark.parametrize("second", ["../secret_key", "database.sqlite3.gz", "secret_key2"])
def test_other_members_than_those_of_the_manifest_are_refused(
    whole: Path, tmp_path: Path, second: str
) -> None:
    hostile = tar_of(
        tmp_path / "hostile.tar", ("manifest.json", manifest_of(whole), {}), (second, b"k" * 60, {})
    )
    with pytest.raises(BadBackup, match="secret_key is not where"):
        open_archive(hostile)


@pytest.mark.parametrize(
    "changes",
    [
        {"ctxhub_backup": 2, "version": "9"},
        {"engine": "oracle"},
        {"members": {}},
        {"members": {"../x": {"bytes": 1, "sha256": "0" * 64, "unpacked_bytes": 1}}},
        {"members": []},
        {"tables": {"core_project": -1}},
        {"tables": {"core_project": "1"}},
        {"created_at": "yesterday"},
        {"hub": 7},
        {"hub": "h" * 10_000},
        {"migrations": None},
    ],
)
def test_a_manifest_that_is_newer_or_makes_no_sense_is_refused(
    whole: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    hostile = tar_of(tmp_path / "hostile.tar", ("manifest.json", manifest_of(whole, **changes), {}))
    with pytest.raises(BadBackup, match=r"manifest|format 2, which ctxhub 9 wrote"):
        open_archive(hostile)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"[" * 100_000, b"\xff" * 600])
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(BadBackup):
        open_archive(tar_of(tmp_path / "hostile.tar", ("manifest.json", content, {})))
    (tmp_path / "plain").write_bytes(content)
    with pytest.raises(BadBackup):
        open_archive(tmp_path / "plain")


def test_a_database_that_grows_beyond_its_size_stops_early(tmp_path: Path) -> None:
    """Of a bomb no more is written than the manifest promises."""
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    pack(tmp_path / "zeros", tmp_path / "packed")
    with pytest.raises(BadBackup, match="another size"):
        unpack(tmp_path / "packed", tmp_path / "database", expected_bytes=1_000)
    assert (tmp_path / "database").stat().st_size <= 1_000


def test_a_key_that_is_too_long_is_not_read(whole: Path) -> None:
    with pytest.raises(BadBackup, match="more than 59 bytes"):
        open_archive(whole).read(KEY, at_most=59)


def test_a_private_file_is_new(tmp_path: Path) -> None:
    with private_file(tmp_path / "file"):
        pass
    with pytest.raises(FileExistsError), private_file(tmp_path / "file"):
        pass


def test_each_format_is_read_for_ever(whole: Path, tmp_path: Path) -> None:
    """Only a format number that is not known yet is newer."""
    manifest = replace(open_archive(whole).manifest, format=1)
    assert json.loads(manifest.to_json())["ctxhub_backup"] == 1
