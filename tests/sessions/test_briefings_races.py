"""Many agents read while one changes what they read: nothing is lost, and who must hear does."""

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.background import When
from ctxhub.core.kit.caller import Caller
from sessions.given.models import BriefingItem
from sessions.given.services import WRITER
from tests.crowd import ToolCall, over_http
from tests.hub import LiveHub
from tests.sessions.given import KEY, REF, decide, items, told

READERS = 16
ROUNDS = 8


def test_readers_beside_a_writer(hub: LiveHub, ada: Caller, caplog: pytest.LogCaptureFixture) -> None:
    decide(ada, 0)
    token = create_token(project=ada.project, agent="", scopes=["read", "write"]).secret
    reading = [ToolCall("get", {"refs": [REF]})] * ROUNDS
    writing = [ToolCall("decision", {"action": "set", "key": KEY, "value": n}) for n in range(1, ROUNDS + 1)]
    WRITER.when = When.IN_BACKGROUND
    try:
        answers = over_http(hub, token)([*([reading] * READERS), writing])
    finally:
        WRITER.when = When.ON_FLUSH
    WRITER.flush()
    assert all("error" not in answer for own in answers for answer in own)
    assert caplog.text == ""
    assert BriefingItem.objects.in_project(ada.project).count() == READERS * ROUNDS
    last = f"1.0.{ROUNDS}"
    for number in range(READERS):
        reader = Caller(project=ada.project, agent=f"agent {number}")
        knows = [version for _, version, _ in items(reader)][-1]
        hears = [text for text in told(reader) if f"to {last}:" in text]
        assert knows == last or len(hears) == 1
        assert knows == last or len(hears) == 1
        assert len(told(reader)) == len(set(told(reader)))
