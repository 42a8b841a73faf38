"""Fuzzing of tool calls: any action with any arguments returns an answer or an error that can be sent."""

import json
from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.dispatch import as_text, call
from memory.decisions.services import deprecate_decision, set_decision
from tests.properties import SHARED_FIXTURES
from tests.tables import Dump, dump_all

ACTIONS = [action for tool in all_tools().values() for action in tool.actions.values()]
NAMES = sorted(
    {argument.name for action in ACTIONS for argument in action.arguments.all} | {"agent", "format"}
)
WORDS = (
    *(
        "api/k",
        "k",
        "api",
        "data",
        "active",
        "any",
        "all",
        "draft",
        "key",
        "asc",
        "e1",
        "7d",
        "2026-11-21",
        "rows",
    ),
    *("decision:k", "decision:nothing", "*", "a*", "%", "set", "1.0.0", "1", "\x00", "\ud800", "é", " ", ""),
    *('["a"]', '{"a":1}', '["\\ud800"]', "[", "x" * 300, "e" + "9" * 18, "../x", "W10"),
)

texts = st.sampled_from(WORDS) | st.text(st.characters(codec=None, categories=None), max_size=8)
numbers = st.integers(-(10**20), 10**20) | st.floats() | st.sampled_from([0, 1, 2, 200, 10**400])
values = st.recursive(
    st.none() | st.booleans() | texts | numbers,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any], str | None]:
    action = draw(st.sampled_from(ACTIONS))
    own_names = [argument.name for argument in action.arguments.all]
    uses_own_names, is_complete, is_named = draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 9))
    names = st.sampled_from(own_names if uses_own_names and own_names else NAMES)
    changed = draw(st.dictionaries(names, values, max_size=4))
    arguments = {**(action.example if is_complete else {}), **changed}
    if action.name and is_named:
        arguments["action"] = action.name
    return action.tool, arguments, draw(st.none() | texts)


@pytest.fixture
def populated(ada: Caller) -> tuple[Caller, Dump]:
    set_decision(caller=ada, key="k", value=5, tags=["api"], scopes=["api"])
    set_decision(caller=ada, key="api/k", value="x")
    deprecate_decision(caller=ada, key="api/k", superseded_by="k")
    return ada, dump_all()


@settings(SHARED_FIXTURES, max_examples=300)
@given(drawn_call=calls())
def test_any_call_is_answered_or_refused(
    populated: tuple[Caller, Dump], drawn_call: tuple[str, dict[str, Any], str | None]
) -> None:
    caller, before = populated
    tool, arguments, request_id = drawn_call
    with transaction.atomic():
        try:
            answer = call(caller, tool, arguments, request_id=request_id)
        except CtxhubError as error:
            answer = error.body()
            assert dump_all() == before
        assert json.loads(as_text(answer).encode()) is not None
        assert len(as_text(answer)) < 100_000
        transaction.set_rollback(True)
