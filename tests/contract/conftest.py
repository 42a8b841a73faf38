"""Opens a face for an agent: each test that asks for it runs over MCP and over REST."""

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.contract.faces import Face, Open, OverMcp, OverRest
from tests.hub import LiveHub


@pytest.fixture(params=[OverMcp, OverRest], ids=["mcp", "rest"])
def open_face(request: pytest.FixtureRequest, hub: LiveHub, apollo: Project) -> Open:
    """Opens a face for an agent with some scopes."""

    def open_(agent: str, *scopes: str, project: Project = apollo) -> Face:
        token = create_token(project=project, agent=agent, scopes=list(scopes) or ["read", "write"]).secret
        if request.param is OverMcp:
            return OverMcp(hub.mcp(token))
        return OverRest(hub.rest(token, project=project.slug))

    return open_
