"""The official conformance suite against the hub: all that a version requires with its fixtures, and what it
can test of the real tools. Skipped with a warning without npm.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ctxhub import env
from tests.core.command_line import Installation, migrated_installation
from tests.npm import installed
from tests.timing import PATIENCE_SECONDS

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

SUITE = ("@modelcontextprotocol/conformance", "0.2.0-alpha.12")
# The suite needs Node 22.
NODE = ("node", "22.23.3")
# Of 2026-07-28 nothing is refused.
EXPECTED = {"2025-11-25": Path(__file__).with_name("expected-failures-2025-11-25.yml")}

IN_BOTH = (
    *("completion-complete", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio"),
    *("tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error"),
    *("tools-call-with-progress", "resources-list", "resources-read-text"),
    *("resources-read-binary", "resources-templates-read", "prompts-list", "prompts-get-simple"),
    *("prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
    "dns-rebinding-protection",
)
INPUT_REQUIRED = (
    *("basic-elicitation", "basic-sampling", "basic-list-roots", "request-state", "multiple-input-requests"),
    *("multi-round", "missing-input-response", "non-tool-request", "result-type", "unsupported-methods"),
    *("tampered-state", "capability-check", "ignore-extra-params", "validate-input"),
)
REFUSED = {version: re.findall(r"^  - (\S+)$", file.read_text(), re.M) for version, file in EXPECTED.items()}
# What each version requires of a server, but for what is refused.
REQUIRED = {
    "2026-07-28": {
        *IN_BOTH,
        *("server-stateless", "sep-2164-resource-not-found", "caching", "server-sse-multiple-streams"),
        *(f"input-required-result-{name}" for name in INPUT_REQUIRED),
    },
    "2025-11-25": {*IN_BOTH, "server-initialize", "ping"},
}
COUNTS = {"2026-07-28": 37, "2025-11-25": 30}
# What means something without the suite's fixtures.
WITHOUT_FIXTURES = {
    "2026-07-28": (
        *("tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching"),
        *("dns-rebinding-protection", "http-header-validation", "server-stateless"),
    ),
    "2025-11-25": ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list"),
}
# They call a tool of the suite.
OF_FIXTURES = ("sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400")

Check = Mapping[str, Any]


@pytest.fixture(scope="module")
def at(django_db_setup: None) -> Iterator[Installation]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        yield at


@contextmanager
def served(at: Installation, **variables: str) -> Iterator[str]:
    """The address of the MCP server of a hub in a process of its own."""
    token = (at.folder / "setup_token").read_text().strip()
    command = [sys.executable, "-m", "uvicorn", "tests.conformance.app:application", "--port", "0"]
    environment = {
        **at.environment,
        "DJANGO_SETTINGS_MODULE": "ctxhub.settings",
        "CTXHUB_TEST_TOKEN": token,
        **variables,
    }
    process = subprocess.Popen(
        command, cwd=env.ROOT, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    with process:
        try:
            assert process.stderr
            found = (re.search(r"running on (http://\S+)", line) for line in process.stderr)
            address = next(match[1] for match in found if match)
            yield f"{address}/mcp"
        finally:
            process.kill()


def suite(url: str, results: Path, *options: str) -> tuple[int, dict[str, list[Check]]]:
    """The exit code, and the checks of each scenario."""
    node = installed(*NODE) / "bin" / "node"
    program = installed(*SUITE) / "dist" / "index.js"
    command = [str(node), str(program), "server", "--url", url, "-o", str(results), *options]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=5 * PATIENCE_SECONDS, cwd=results.parent
    )
    (results.parent / "said.txt").write_text(done.stdout + done.stderr)
    checks = {
        re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name): json.loads(file.read_text())
        for file in results.glob("*/checks.json")
    }
    return done.returncode, checks


def failed(checks: Sequence[Check]) -> list[tuple[str, str]]:
    return [(each["id"], each.get("errorMessage", "")) for each in checks if each["status"] == "FAILURE"]


@pytest.mark.parametrize("version", REQUIRED)
def test_all_that_a_version_requires_passes(at: Installation, tmp_path: Path, version: str) -> None:
    refused = ("--expected-failures", str(EXPECTED[version])) if version in EXPECTED else ()
    options = ("--requirements", version, *refused)
    with served(at, CTXHUB_TEST_FIXTURES="true") as url:
        code, checks = suite(url, tmp_path / "results", *options)
    required = REQUIRED[version]
    assert required <= checks.keys()
    assert {name: failed(checks[name]) for name in required if failed(checks[name])} == {}
    assert [name for name in required if not any(each["status"] == "SUCCESS" for each in checks[name])] == []
    assert code == 0, (tmp_path / "said.txt").read_text()


def test_no_required_scenario_is_forgotten() -> None:
    """Each is either required here or refused, with its reason."""
    named = {version: len(names) + len(REFUSED.get(version, ())) for version, names in REQUIRED.items()}
    assert named == COUNTS


@pytest.mark.parametrize("version", WITHOUT_FIXTURES)
def test_the_real_tools_conform(at: Installation, tmp_path: Path, version: str) -> None:
    with served(at) as url:
        for name in WITHOUT_FIXTURES[version]:
            results = tmp_path / name / "results"
            results.parent.mkdir()
            _, checks = suite(url, results, "--scenario", name, "--spec-version", version)
            [found] = checks.values()
            left = [each for each in failed(found) if each[0] not in OF_FIXTURES]
            assert left == [], name
            assert any(check["status"] == "SUCCESS" for check in found), name
