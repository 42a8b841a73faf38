"""`manage.py demo`: a scenario that checks the answers of its own calls."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxhub.management.scenarios.transcript import Unexpected, expect
from tests.core.command_line import installation

pytestmark = pytest.mark.one_engine


@dataclass(frozen=True)
class DemoRun:
    process: subprocess.CompletedProcess[str]
    left_behind: list[Path]


@pytest.fixture(scope="module")
def demo(django_db_setup: None) -> Iterator[DemoRun]:
    with installation() as at:
        yield DemoRun(at.run("demo"), list(at.folder.iterdir()))


def test_two_agents_share_a_decision(demo: DemoRun) -> None:
    assert demo.process.returncode == 0, demo.process.stderr
    assert "All as it should be" in demo.process.stdout


def test_the_demo_leaves_no_files(demo: DemoRun) -> None:
    assert demo.left_behind == []


def test_the_transcript_shows_agent_call_and_answer(demo: DemoRun) -> None:
    assert 'ada > decision set key="api/auth/method" value="JWT"' in demo.process.stdout
    assert 'ben > decision get key="api/auth/method" include=["rationale"]' in demo.process.stdout
    assert '! {"error": "conflict"' in demo.process.stdout


def test_three_agents_work_side_by_side(demo: DemoRun) -> None:
    assert "eve > constraint add" in demo.process.stdout
    assert '"current": {"lease_id": 1, "by": "ada"' in demo.process.stdout
    assert '"mail": 1' in demo.process.stdout
    assert "ben > hub layer_summary" in demo.process.stdout


def test_three_agents_share_scratchpads_and_store_memories(demo: DemoRun) -> None:
    assert 'eve > scratchpad search workflow_id=1 query="快取 效能"' in demo.process.stdout
    assert "加入«快取»層" in demo.process.stdout
    assert "eve > memory add" in demo.process.stdout
    assert "ada > memory relationships" in demo.process.stdout


def test_an_agent_loses_its_window_and_goes_on(demo: DemoRun) -> None:
    assert 'ada > session restore workspace_id="shop"' in demo.process.stdout
    assert "[credential: password" in demo.process.stdout
    assert "ada > snapshot why" in demo.process.stdout
    assert '"mode": "compressed"' in demo.process.stdout
    assert "ben > session lineage" in demo.process.stdout


def test_an_agent_starts_with_a_brief_is_stopped_and_hears_of_a_change(demo: DemoRun) -> None:
    assert 'ben > brief task="Add the rate limit to shop/api/login.py"' in demo.process.stdout
    assert '< {"clear": false' in demo.process.stdout
    assert 'ben > message inbox type="decision" wait_seconds=20' in demo.process.stdout
    assert '< {"clear": true' in demo.process.stdout


def test_an_answer_that_differs_is_an_error() -> None:
    with pytest.raises(Unexpected, match=r"the version: expected '1\.0\.1', found '1\.0\.0'"):
        expect("the version", "1.0.0", "1.0.1")
