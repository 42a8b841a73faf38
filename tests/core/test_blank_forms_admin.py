"""A form that lacks what has to be said comes back, and says so."""

from typing import Any

import pytest

from ctxhub.core.models import Project
from tests.people import member

FORMS: dict[str, dict[str, Any]] = {
    "memory/decision": {"key": "", "value": "x", "kind": "text", "status": "active", "seen_revision": 0},
    "memory/constraint": {"category": "security", "text": "", "priority": "high"},
    "memory/context": {"name": ""},
    "memory/memory": {"title": "A", "content": "", "context": "general", "type": "note"},
    "memory/relationship": {"source": "", "target": "", "relation": "related", "strength": "5"},
    "memory/decisiontemplate": {"name": ""},
    "messaging/message": {"text": "", "to": "", "type": "info", "priority": "high"},
    "core/tag": {"name": ""},
}


# What is empty is left out of the service's arguments, and it has to be among them.
BREAKS = pytest.mark.xfail(strict=True, raises=TypeError, reason="The page breaks where the text is empty.")
BROKEN = ("memory/constraint", "messaging/message")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[BREAKS] if page in BROKEN else []) for page in FORMS]
)
def test_what_has_to_be_said_is_asked_for(page: str, apollo: Project) -> None:
    response = member(apollo).post(f"/admin/{page}/add/", FORMS[page])
    assert response.status_code == 200
    assert response.context["adminform"].form.errors
