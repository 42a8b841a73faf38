"""Exports of earlier formats: each release reads them all.

`golden-1.jsonl` was written by the first release that exports, from a project as `world.fill` makes it, with
its log. It is never written again. A later format adds a file of its own.

What ages is read when the file was written: a snapshot changes its tier, a message ends.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import time_machine

from ctxhub.core.transfer.declaration import KINDS
from tests.transfer.world import export_of, take

GOLDENS = sorted(Path(__file__).parent.glob("golden-*.jsonl"))


@pytest.mark.django_db
@pytest.mark.parametrize("path", GOLDENS, ids=[path.stem for path in GOLDENS])
def test_an_earlier_export_is_imported_whole(path: Path) -> None:
    """Fields that exports have got since may come beside those of the file."""
    lines = path.read_bytes().splitlines()
    before = objects_of(lines)
    with time_machine.travel(json.loads(lines[0])["at"]):
        done = take(path, slug="golden-copy")
        assert done.project
        after = objects_of(export_of(done.project, with_log=True))
    [own] = {*after} - {*before}
    assert after[own]["verb"] == "imported"
    for line, data in before.items():
        assert as_in(data, after[line]) == data, line


@pytest.mark.django_db
def test_the_first_one_has_every_kind_of_the_first_format() -> None:
    kinds = {kind for kind, _ in objects_of(GOLDENS[0].read_bytes().splitlines())}
    assert {"config", "decision", "memory", "scratchpad", "message", "snapshot", "event"} <= kinds <= {*KINDS}


def as_in(earlier: Any, later: Any) -> Any:
    """The later data without the fields that the earlier has not, at any depth."""
    if isinstance(earlier, dict) and isinstance(later, dict):
        return {name: as_in(value, later.get(name)) for name, value in earlier.items()}
    if isinstance(earlier, list) and isinstance(later, list) and len(earlier) == len(later):
        return [as_in(*pair) for pair in zip(earlier, later, strict=True)]
    return later


def objects_of(lines: list[bytes]) -> dict[tuple[str, str], dict[str, Any]]:
    """Its objects by kind and UUID, without the first and the last line."""
    objects = [json.loads(line) for line in lines[1:-1]]
    return {(each["kind"], each["uuid"]): each["data"] for each in objects}
