"""The bridge as a process of its own, between real clients and a real hub."""

import json
import re
import ssl
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, McpClient, RestClient
from tests.integrations.bridges import COMMAND, bridge
from tests.integrations.tls import TlsHub, behind_tls
from tests.mcp.test_sdk_client import VERSIONS, work
from tests.stdio import LEGACY, StdioClient
from tests.timing import wait_until

pytestmark = pytest.mark.one_engine

MOST_KIB = 16 * 1024
MOST_KIB_WITH_TLS = 24 * 1024


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_sdks_client_works_through_it(hub: LiveHub, ada_token: str, tmp_path: Path, mode: Any) -> None:
    environment = {"CTXHUB_URL": hub.url, "CTXHUB_TOKEN": ada_token, "HOME": str(tmp_path)}
    started = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=environment)

    async def session() -> None:
        async with Client(started, mode=mode) as client:
            assert client.protocol_version == VERSIONS[mode]
            await work(client)

    anyio.run(session)


def test_answers_are_those_of_http(hub: LiveHub, ada_token: str, ada_mcp: McpClient) -> None:
    with bridge(hub, ada_token) as client:
        assert client.start() == ada_mcp.rpc("initialize", LEGACY)["result"]
        assert client.tools() == ada_mcp.rpc("tools/list")["result"]["tools"]
        client.call("decision", "set", key="api/auth", value="JWT – 効\u2028")
        arguments = {"action": "get", "key": "api/auth"}
        assert client.result("decision", arguments) == ada_mcp.result("decision", arguments)
        assert client.request("no/such")["error"]["code"] == -32601
        out, err, code = client.finish()
    assert (out, err, code) == (b"", b"", 0)


def test_windows_are_sessions_of_their_own(hub: LiveHub, ada_token: str, ada_rest: RestClient) -> None:
    with (
        bridge(hub, ada_token, CLAUDE_CODE_SESSION_ID="one") as one,
        bridge(hub, ada_token, CLAUDE_CODE_SESSION_ID="two") as two,
    ):
        one.start()
        two.start()
        held = one.call("file", "lease", paths=["src/a.py"], exclusive=True, reason="Mine.")
        refused = two.call("file", "lease", paths=["src/a.py"], exclusive=True, reason="Mine, too.")
        assert refused["error"] == "conflict"
        assert "claude-one" in refused["message"]
        again = one.call("file", "lease", paths=["src/a.py"], exclusive=True, reason="Still mine.")
        assert again["lease_id"] == held["lease_id"]
    [row] = ada_rest.get("leases/").body["items"]
    assert row["session"] == "claude-one"


def test_windows_whose_client_tells_no_session_make_a_name_up(
    hub: LiveHub, ada_token: str, ada_rest: RestClient, ben_mcp: McpClient
) -> None:
    with bridge(hub, ada_token) as one, bridge(hub, ada_token) as two:
        one.start()
        two.start()
        for client in (one, two):
            assert client.call("file", "lease", paths=["src/a.py"])["result"] == "created"
        assert ben_mcp.call("file", "lease", paths=["src/a.py"])["error"] == "conflict"
        again = one.call("file", "lease", paths=["src/a.py"])
        assert again["result"] == "extended", "its own"
        saved = [client.call("session", "save", summary="s", branch="main") for client in (one, two)]
        tracked = [client.call("session", "track", path="b.py", access="viewed") for client in (one, two)]
        assert [each["session"] for each in tracked] == [each["session"] for each in saved]
        live = ada_rest.get("sessions/", live="true").body["items"]
    names = {row["session"] for row in ada_rest.get("leases/").body["items"]}
    assert len(names) == 2
    assert all(re.fullmatch("mcp-[0-9a-f]{8}", name) for name in names)
    assert {(row["session"], row["branch"]) for row in live} == {(name, "main") for name in names}


def test_a_saved_session_has_the_branch_and_the_worktree(
    hub: LiveHub, ada_token: str, ada_rest: RestClient, tmp_path: Path
) -> None:
    folder = tmp_path / "projekt é" / "src"
    folder.mkdir(parents=True)
    git = partial(subprocess.run, cwd=folder.parent, check=True, capture_output=True)
    git(["git", "init", "-q", "-b", "main"])

    with bridge(hub, ada_token, folder, CTXHUB_SESSION="mine") as client:
        client.start()

        def saved(**arguments: Any) -> tuple[str, str]:
            session = client.call("session", "save", summary="s", **arguments)["session"]
            state = ada_rest.get(f"sessions/{session}/").body["state"]
            return state["branch"], state["worktree"]

        assert saved() == ("main", str(folder.parent))
        git(["git", "switch", "-q", "-c", "größer/窗口"])
        assert saved() == ("größer/窗口", str(folder.parent))
        assert saved(branch="said", worktree="") == ("said", "")
    with bridge(hub, ada_token, tmp_path, CTXHUB_SESSION="mine") as client:
        client.start()
        assert saved() == ("said", ""), "in no repository"


def test_an_agent_is_named(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    token = create_token(project=apollo, name="shared", scopes=["read", "write"])
    with bridge(hub, token.secret, CTXHUB_AGENT="zoë") as client:
        client.start()
        client.call("decision", "set", key="k", value="x")
    assert ada_rest.get("decisions/k/").body["agent"] == "zoë"


def test_a_waiting_call_ends_when_it_is_cancelled(hub: LiveHub, ada_token: str, ben_mcp: McpClient) -> None:
    with bridge(hub, ada_token) as client:
        client.start()
        client.write(call(70, "hub", action="wait", wait_seconds=60))
        client.write(call(71, "hub", action="wait", wait_seconds=60))
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 70}}
        client.write(json.dumps({"jsonrpc": "2.0", **cancel}).encode())
        assert client.call("decision", "get", key="k") == {"found": False, "similar": []}
        ben_mcp.call("decision", "set", key="k", value="x")
        assert client.read()["id"] == 71


def call(request_id: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}).encode()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory in /proc")
def test_it_takes_little_memory(hub: LiveHub, ada_token: str) -> None:
    with bridge(hub, ada_token) as client:
        client.start()
        client.tools()
        client.call("hub", "stats")
        assert peak_kib(client) <= MOST_KIB


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory in /proc")
def test_it_takes_little_memory_with_tls_and_many_calls_at_once(tls_hub: TlsHub, ada_token: str) -> None:
    with bridge(tls_hub, ada_token, SSL_CERT_FILE=str(tls_hub.certificate)) as client:
        client.start()
        client.tools()
        for turn in range(10):
            for number in range(8):
                client.write(call(1_000 + 8 * turn + number, "hub", action="stats"))
            assert all("result" in client.read() for _ in range(8))
        assert peak_kib(client) <= MOST_KIB_WITH_TLS


def peak_kib(client: StdioClient) -> int:
    status = Path(f"/proc/{client.process.pid}/status")
    wait_until(lambda: "VmHWM" in status.read_text())
    [peak] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(peak.split()[1])


@pytest.fixture
def tls_hub(hub: LiveHub, tmp_path: Path) -> Iterator[TlsHub]:
    """Its client trusts the authorities of this system, too: these take the memory."""
    with behind_tls(hub, tmp_path) as server:
        system = ssl.get_default_verify_paths().cafile
        if system:
            server.certificate.write_bytes(server.certificate.read_bytes() + Path(system).read_bytes())
        yield server


def test_a_hub_that_is_not_trusted_is_told(tls_hub: TlsHub, ada_token: str) -> None:
    with bridge(tls_hub, ada_token) as client:
        message = client.request("initialize", LEGACY)["error"]["message"]
    assert "self-signed certificate" in message or "self signed certificate" in message
    assert "nothing was done" in message


def test_a_token_that_is_refused_is_told(hub: LiveHub, apollo: Project) -> None:
    with bridge(hub, "wrong") as client:
        error = client.request("initialize", LEGACY)["error"]
    assert "token" in error["message"]
