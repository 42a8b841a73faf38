"""Admin forms with a blank required field are shown again with an error."""

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
    "memory/snapshot": {"content": " ", "action_type": "conversation"},
    "messaging/message": {"text": "", "to": "", "type": "info", "priority": "high"},
    "core/tag": {"name": ""},
}


@pytest.mark.parametrize("page", FORMS)
def test_a_blank_required_field_is_an_error(page: str, apollo: Project) -> None:
    response = member(apollo).post(f"/admin/{page}/add/", FORMS[page])
    assert response.status_code == 200
    assert response.context["adminform"].form.errors
