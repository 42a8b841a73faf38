"""Every method of MCP over HTTP for who has no good token: /mcp refuses it before it reads the request."""

from ctxhub.core.models import Project
from ctxhub.mcp.methods import METHODS
from tests.hub import LiveHub
from tests.mcp.everywhere import headers_of
from tests.mcp.transcript import META, MODERN
from tests.roles.people import Asker, tokens


def test_nobody_is_told_anything_over_http_without_a_good_token(
    hub: LiveHub, apollo: Project, hermes: Project
) -> None:
    answers: dict[str, set[str]] = {}
    nobody = Asker(name="nobody", scopes=None)
    for asker in (nobody, *(each for each in tokens(apollo, hermes) if not each.is_known)):
        client = hub.http(asker.token or None)
        for method in METHODS:
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META}}
            reply = client.send("POST", "/mcp", message, headers_of(message, MODERN))
            assert reply.status == 401, (asker, method)
            assert reply.headers["www-authenticate"].startswith("Bearer")
            answers.setdefault(asker.name, set()).add(str(reply.body))
    assert len(answers) == 5
    assert {len(told) for told in answers.values()} == {1}, answers
