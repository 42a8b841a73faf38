"""Files that are torn, changed, hostile, newer or none of ctxhub: nothing changes, and the line is named."""

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.models import Import, Origin, Project
from ctxhub.core.transfer import file as reading
from tests.transfer.world import export_of, fill, forged, take, written

Objects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def lines(rows_of_module: Callable[[], AbstractContextManager[None]]) -> list[bytes]:
    """An export of a project that has some of everything."""
    with rows_of_module():
        project = create_project(slug="apollo")
        fill(Caller(project=project, agent="ada"), Caller(project=project, agent="ben"))
        return export_of(project)


@pytest.fixture(autouse=True)
def rolled_back_behind_each_test(db: None) -> None:
    """The rows of imports."""


def refused(lines: list[bytes], tmp_path: Path, project: Project | None = None) -> str:
    """The message with which an import is refused; it leaves nothing behind."""
    before = Project.unscoped.count(), Origin.unscoped.count()
    with pytest.raises(CtxhubError) as caught:
        take(written(lines, tmp_path / "bad.jsonl"), project, slug="" if project else "copy")
    assert (Project.unscoped.count(), Origin.unscoped.count()) == before
    assert Import.objects.count() == 0
    return caught.value.message


def test_no_export(tmp_path: Path) -> None:
    for content in (
        b"",
        b"hello\n",
        b"[1]\n",
        b'{"a":1}\n',
        b"\xff\xfe\n",
        b'{"ctxhub":"1"}\n',
        b"{" * 9999 + b"\n",
    ):
        assert refused([content], tmp_path).startswith("line 1: no ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: b"", "the file is empty"),
        (gzip.compress, "it is packed with gzip"),
        (lambda content: content.decode().encode("utf-16"), "it is text in UTF-16"),
        (lambda content: content.decode().encode("utf-16-be"), "it is text in UTF-16"),
        (lambda content: b"\xef\xbb\xbf" + content, "it is text with a byte order mark"),
        (lambda content: content.replace(b"\n", b"\r\n"), "its lines end with CR LF"),
        (lambda content: content.replace(b"\n", b""), "it begins with a line of JSON"),
        (lambda content: b"--x\r\n\r\n" + content, "it is a form"),
        (lambda content: content + content, "something follows the last line"),
    ],
)
def test_an_export_that_was_changed_on_its_way(
    change: Callable[[bytes], bytes], message: str, lines: list[bytes], tmp_path: Path
) -> None:
    content = b"".join(lines)
    assert message in refused([change(content)], tmp_path)


def test_a_newer_format(lines: list[bytes], tmp_path: Path) -> None:
    newer = json.dumps({**json.loads(lines[0]), "ctxhub": 2}).encode() + b"\n"
    assert "format 2 by a newer ctxhub" in refused([newer, *lines[1:]], tmp_path)


def test_torn_at_any_line_and_inside_of_one(lines: list[bytes], tmp_path: Path) -> None:
    for count in (1, 2, len(lines) // 2, len(lines) - 1):
        assert f"line {count + 1:,}: the file ends" in refused(lines[:count], tmp_path)
    assert "the file ends in the middle" in refused([*lines[:5], lines[5][:20]], tmp_path)


def test_reordered_doubled_dropped_or_changed(lines: list[bytes], tmp_path: Path) -> None:
    last = f"line {len(lines):,}: the checksum"
    assert "comes after the lines of" in refused([lines[0], *reversed(lines[1:-1]), lines[-1]], tmp_path)
    assert "has a line already" in refused([*lines[:2], lines[1], *lines[2:]], tmp_path)
    assert f"line {len(lines) - 1:,}: the checksum" in refused([*lines[:3], *lines[4:]], tmp_path)
    assert last in refused([lines[0], lines[1].replace(b"name", b"Name"), *lines[2:]], tmp_path)
    assert f"line {len(lines) + 1:,}: something follows" in refused([*lines, lines[1]], tmp_path)
    assert "lines of" in refused(forged_counts(lines), tmp_path)


def forged_counts(lines: list[bytes]) -> list[bytes]:
    import hashlib

    head = json.loads(lines[0])
    head["counts"]["memory"] += 1
    new = [json.dumps(head).encode() + b"\n", *lines[1:-1]]
    return [*new, json.dumps({"sha256": hashlib.sha256(b"".join(new)).hexdigest()}).encode() + b"\n"]


def test_an_oversize_line(lines: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_BYTES", 1_000)
    assert "longer than" in refused(lines, tmp_path)


def first(objects: Objects, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in objects if each["kind"] == kind)["data"]
    return found


def setting(kind: str, **values: Any) -> Callable[[Objects], None]:
    return lambda objects: first(objects, kind).update(values)


def part(kind: str, name: str, **values: Any) -> Callable[[Objects], None]:
    def change(objects: Objects) -> None:
        next(each for each in objects if each["kind"] == kind and each["data"][name])["data"][name][0].update(
            values
        )

    return change


UNKNOWN = "00000000-0000-4000-8000-000000000000"
HOSTILE: dict[str, tuple[Callable[[Objects], None], str]] = {
    "number": (setting("decision", value="abc", value_type="float"), "value: 'abc' is no float"),
    "infinite": (setting("decision", value="1e999", value_type="float"), "is no float"),
    "digits": (setting("decision", value="9" * 5000, value_type="integer"), "is no integer"),
    "choice": (setting("decision", status="gone"), "status: 'gone' is unknown"),
    "long": (setting("decision", key="k" * 201), "key: 201 characters"),
    "lines": (setting("decision", key="a\nb"), "key: 'a\\nb' holds line ends"),
    "invisible": (setting("decision", key="a\u200bb"), "holds line ends or characters that nobody sees"),
    "nul": (setting("decision", rationale="a\0b"), "cannot be stored"),
    "surrogate": (setting("decision", metadata={"a": "\ud800"}), "cannot be stored"),
    "type": (setting("decision", rationale=5), "rationale: 5 is no text"),
    "null": (setting("decision", key=None), "key must not be null"),
    "field": (setting("decision", colour="red"), "'colour' is no field"),
    "paths": (setting("decision", paths=["../x"]), "must be relative"),
    "paths of numbers": (setting("decision", paths=[1]), "no list of texts"),
    "object": (setting("decision", metadata=[1]), "is no object"),
    "layer": (setting("decision", layer="none"), "layer: no line before it has the layer 'none'"),
    "agent": (setting("decision", agent=5), "agent: no line before it"),
    "tags": (setting("decision", tags="api"), "tags: 'api' is no list"),
    "time": (setting("decision", created_at="yesterday"), "created_at: 'yesterday' is no time"),
    "naive time": (setting("decision", created_at="2026-01-01T00:00:00"), "is no time"),
    "superseded": (setting("decision", superseded_by=UNKNOWN), "no line before it has the decision"),
    "no uuid": (setting("decision", superseded_by="5"), "is no UUID"),
    "revision": (part("decision", "revisions", status="gone"), "status: 'gone' is unknown"),
    "context": (setting("memory", context=UNKNOWN), "no line before it has the context"),
    "pad state": (part("scratchpad", "revisions", length=10**6), "is longer than the text"),
    "negative": (setting("session", token_count=-1), "no whole number"),
    "true": (setting("session", token_count=True), "no whole number"),
    "huge": (setting("session", token_count=2**70), "no whole number"),
    "file": (setting("resource", path="/etc/passwd"), "must be relative"),
    "point": (setting("relationship", source="memory:1"), "is no kind with a UUID"),
    "config": (setting("config", nothing=1), "There is no setting 'nothing'"),
    "config value": (setting("config", message_hours=10**6), "message_hours must be"),
    "state": (setting("message", state="open"), "contradicts another one"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_values(name: str, lines: list[bytes], tmp_path: Path) -> None:
    change, message = HOSTILE[name]
    told = refused(forged(lines, change), tmp_path)
    assert told.startswith("line ")
    assert message in told


def test_two_objects_of_one_name(lines: list[bytes], tmp_path: Path) -> None:
    def double(objects: Objects) -> None:
        place = next(number for number, each in enumerate(objects) if each["kind"] == "decision")
        objects.insert(place, {**objects[place], "uuid": UNKNOWN})

    assert "contradicts another one" in refused(forged(lines, double), tmp_path)


def test_a_field_that_an_older_release_did_not_know_gets_its_default(
    lines: list[bytes], tmp_path: Path
) -> None:
    def drop(objects: Objects) -> None:
        for each in objects:
            if each["kind"] == "session":
                del each["data"]["current_at"], each["data"]["is_implicit"]

    assert take(written(forged(lines, drop), tmp_path / "a.jsonl"), slug="copy").project


def test_a_key_is_no_field_that_may_be_left_out(lines: list[bytes], tmp_path: Path) -> None:
    def drop(objects: Objects) -> None:
        del first(objects, "decision")["key"]

    assert "key is missing" in refused(forged(lines, drop), tmp_path)
