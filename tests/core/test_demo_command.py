"""`manage.py demo`: a story that checks itself."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxhub.management.scenarios.transcript import Unexpected, expect
from tests.core.command_line import installation

pytestmark = pytest.mark.one_engine


@dataclass(frozen=True)
class Told:
    by: subprocess.CompletedProcess[str]
    left_behind: list[Path]


@pytest.fixture(scope="module")
def told(django_db_setup: None) -> Iterator[Told]:
    with installation() as at:
        yield Told(at.run("demo"), list(at.folder.iterdir()))


def test_two_agents_share_a_decision(told: Told) -> None:
    assert told.by.returncode == 0, told.by.stderr
    assert "All as it should be" in told.by.stdout


def test_nothing_of_yours_is_touched(told: Told) -> None:
    assert told.left_behind == []


def test_the_transcript_tells_who_called_what_and_the_answer(told: Told) -> None:
    assert 'ada > decision set key="api/auth/method" value="JWT"' in told.by.stdout
    assert 'ben > decision get key="api/auth/method" include=["rationale"]' in told.by.stdout
    assert '! {"error": "conflict"' in told.by.stdout


def test_three_agents_work_side_by_side(told: Told) -> None:
    assert "eve > constraint add" in told.by.stdout
    assert '"current": {"lease_id": 1, "by": "ada"' in told.by.stdout
    assert '"mail": 1' in told.by.stdout
    assert "ben > hub layer_summary" in told.by.stdout


def test_three_agents_work_one_pad_after_another_and_keep_what_they_learned(told: Told) -> None:
    assert 'eve > scratchpad search workflow_id=1 query="快取 效能"' in told.by.stdout
    assert "加入«快取»層" in told.by.stdout
    assert "eve > memory add" in told.by.stdout
    assert "ada > memory relationships" in told.by.stdout


def test_an_answer_that_differs_is_an_error() -> None:
    with pytest.raises(Unexpected, match=r"the version: expected '1\.0\.1', found '1\.0\.0'"):
        expect("the version", "1.0.0", "1.0.1")
