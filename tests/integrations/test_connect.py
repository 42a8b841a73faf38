"""`/connect/`: the client as a hub serves it, to everybody and without a question to its database."""

import hashlib
import re
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.test.utils import override_script_prefix
from django.urls import reverse

from ctxhub.connect import archive
from ctxhub.connect.archive import client_archive
from ctxhub.middleware import STRICT
from tests.hub import LiveHub
from tests.integrations.hook import PACKAGE, ROOT, Workplace

PAGE, PROGRAM, CHECKSUM = (reverse(name) for name in ("connect", "client_archive", "client_checksum"))
ALL = (PAGE, PROGRAM, CHECKSUM)


def test_the_program_is_served_with_its_version_and_digest(client: Client) -> None:
    reply = client.get(PROGRAM)
    built = client_archive()
    assert (reply.status_code, reply.content) == (200, built.content)
    assert reply["Content-Type"] == "application/octet-stream"
    assert reply["Content-Disposition"] == 'attachment; filename="ctxhub.pyz"'
    assert reply["Content-Length"] == str(len(built.content))
    assert reply["Ctxhub-Client-Version"] == built.version
    assert reply["Ctxhub-Client-Sha256"] == hashlib.sha256(reply.content).hexdigest()


def test_its_digest_is_in_the_form_of_sha256sum(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ctxhub.pyz").write_bytes(client.get(PROGRAM).content)
    (tmp_path / "ctxhub.pyz.sha256").write_bytes(client.get(CHECKSUM).content)
    command = ["sha256sum", "--check", "--strict", "ctxhub.pyz.sha256"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "ctxhub.pyz: OK\n"


@pytest.mark.parametrize("path", [PROGRAM, CHECKSUM])
def test_who_has_it_is_not_sent_it_again(client: Client, path: str) -> None:
    known = client.get(path)["ETag"]
    reply = client.get(path, headers={"If-None-Match": known})
    assert (reply.status_code, reply.content, reply["ETag"]) == (304, b"", known)
    assert client.get(path, headers={"If-None-Match": '"another"'}).status_code == 200


@pytest.mark.parametrize("path", ALL)
def test_a_cache_asks_each_time(client: Client, path: str) -> None:
    assert client.get(path)["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ALL)
def test_heads_are_answered(client: Client, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == whole["Content-Length"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("path", ALL)
def test_nothing_else_is(path: str, method: str) -> None:
    reply = Client(enforce_csrf_checks=True).generic(method, path)
    assert (reply.status_code, reply["Allow"]) == (405, "GET, HEAD")


def test_the_page_shows_the_lines_with_this_hubs_address(client: Client) -> None:
    text = client.get(PAGE).content.decode()
    assert "curl -fsSO http://testserver/connect/ctxhub.pyz\n" in text
    assert f'echo "{client_archive().sha256}  ctxhub.pyz" | sha256sum -c\n' in text.replace("&quot;", '"')
    assert "export CTXHUB_URL=http://testserver CTXHUB_TOKEN=ctx_... CTXHUB_AGENT=<" in text
    assert f"version {client_archive().version}" in text


def test_the_page_connects_the_tools_as_the_guide_does(client: Client) -> None:
    text = client.get(PAGE).content.decode()
    lines = re.findall(r"^.*mcp add ctxhub .* mcp$", (ROOT / "docs" / "hooks.md").read_text(), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["claude", "codex"]
    assert "\n".join(lines) in text


def test_below_a_path_its_lines_and_links_have_it(client: Client) -> None:
    with override_script_prefix("/hub/"):
        text = client.get(PAGE, SCRIPT_NAME="/hub").content.decode()
    assert "curl -fsSO http://testserver/hub/connect/ctxhub.pyz\n" in text
    assert 'href="/hub/connect/ctxhub.pyz"' in text


def test_a_hub_that_names_its_address_shows_that(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_BASE_URL", "https://hub.example.com")
    with override_settings(BASE_URL="https://hub.example.com"):
        assert "curl -fsSO https://hub.example.com/connect/ctxhub.pyz\n" in client.get(PAGE).content.decode()


def test_the_page_takes_nothing_from_elsewhere_and_runs_no_script(client: Client) -> None:
    reply = client.get(PAGE)
    text = reply.content.decode()
    assert reply["Content-Security-Policy"] == STRICT
    assert not re.findall(r"<script|<style|\bstyle=|\bon\w+=", text)
    assert not re.findall(r'(?:src|href)="(?!/)', text)


@pytest.mark.parametrize("path", ALL)
def test_a_visitor_with_a_cookie_asks_no_database_either(client: Client, path: str) -> None:
    """No test of this file may use it, which pytest sees to."""
    client.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("path", ALL)
def test_a_hub_without_the_sources_says_so(
    client: Client, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "FOLDER", tmp_path / "absent")
    client_archive.cache_clear()
    reply = client.get(path)
    assert (reply.status_code, reply["Content-Type"]) == (503, "text/plain; charset=utf-8")
    assert "This hub serves no client" in reply.content.decode()


def test_it_is_built_once(client: Client) -> None:
    client.get(PROGRAM)
    before = client_archive.cache_info().misses
    for path in ALL:
        client.get(path)
    assert client_archive.cache_info().misses == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.one_engine
def test_the_lines_of_the_page_install_hooks_that_ask_this_hub(
    workplace: Workplace, hub: LiveHub, ada_token: str
) -> None:
    """As a person pastes them, but for the token."""
    workplace.variables |= {"CTXHUB_URL": hub.url, "CTXHUB_TOKEN": ada_token}
    with urlopen(f"{hub.url}{PAGE}") as reply:
        text = reply.read().decode().replace("&quot;", '"')
    [first, second, third] = re.findall(r"(?s)<pre[^>]*>(curl -.*?)</pre>", text)[1].splitlines()
    [last] = re.findall(r"(?s)<pre[^>]*>(python3 .*? install) WHAT</pre>", text)
    lines = ["set -e", "cd ../home", first, second, third, "cd -", f"{last} claude-code"]
    subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=workplace.repository,
        env=workplace.environment,
        capture_output=True,
        check=True,
    )
    launcher = workplace.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py"
    assert str(launcher) in (workplace.repository / ".claude" / "settings.local.json").read_text()
    workplace.limits.put_into(launcher.parent / client_archive().version / PACKAGE.name)
    run = workplace.run("hook", "claude", stdin=workplace.input("session_start_startup"), script=launcher)
    assert run.context


def test_the_page_and_the_documents_name_the_same_clients(client: Client) -> None:
    quick_start = (ROOT / "docs" / "quickstart.md").read_text()
    shown = re.findall(r"<td><code>([\w-]+)</code></td>", client.get(PAGE).content.decode())
    assert shown
    assert [what for what in shown if f"ctxhub.py install {what}`" not in quick_start] == []
