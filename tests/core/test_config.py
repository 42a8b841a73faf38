"""A project's settings, over MCP and REST alike: everyone reads them, administrators change them."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from tests.hub import McpClient, RestClient

DEFAULTS = {
    "ignore_weekend": False,
    "time_zone": "UTC",
    "holidays": [],
    "message_hours": 24,
    "change_days": 7,
    "scratchpad_days": 7,
    "session_days": 30,
    "access_days": 90,
    "auto_prune": False,
    "tell_stale": True,
    "record_given": True,
    "ignore_case_in_paths": False,
    "escalate_minutes": 0,
    "enrolment": True,
}
OTHER_VALUES = [
    ("ignore_weekend", True),
    ("time_zone", "Europe/Berlin"),
    ("holidays", ["2026-12-25"]),
    ("message_hours", 168),
    ("change_days", 90),
    ("scratchpad_days", 0),
    ("session_days", 3_650),
    ("access_days", 1),
    ("auto_prune", True),
    ("tell_stale", False),
    ("record_given", False),
    ("ignore_case_in_paths", True),
    ("escalate_minutes", 30),
    ("enrolment", False),
]


def set_config(caller: Caller, **values: Any) -> dict[str, Any]:
    return call(caller, "hub", {"action": "config_set", "values": values})


def config(caller: Caller) -> dict[str, Any]:
    return call(caller, "hub", {"action": "config"})


def test_a_new_project_has_the_defaults(ada: Caller) -> None:
    assert config(ada) == DEFAULTS


@pytest.mark.parametrize(("name", "value"), OTHER_VALUES)
def test_each_setting_is_stored_over_mcp(ada_mcp: McpClient, name: str, value: Any) -> None:
    expected = {**DEFAULTS, name: value}
    assert ada_mcp.call("hub", "config_set", values={name: value}) == expected
    assert ada_mcp.call("hub", "config") == expected


@pytest.mark.parametrize(("name", "value"), OTHER_VALUES)
def test_each_setting_is_stored_over_rest(ada_rest: RestClient, name: str, value: Any) -> None:
    expected = {**DEFAULTS, name: value}
    assert ada_rest.patch("config/", {"values": {name: value}}).body == expected
    assert ada_rest.get("config/").body == expected


def test_omitted_settings_stay_and_null_resets_one(ada: Caller) -> None:
    set_config(ada, message_hours=48, change_days=3)
    assert set_config(ada, message_hours=None) == {**DEFAULTS, "change_days": 3}
    assert Project.objects.get(pk=ada.project_id).config == {"change_days": 3}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"message_hours": 0}, "1 to 168"),
        ({"message_hours": 169}, "1 to 168"),
        ({"change_days": 91}, "1 to 90"),
        ({"scratchpad_days": 366}, "0 to 365"),
        ({"session_days": -1}, "0 to 3,650"),
        ({"access_days": 1.5}, "access_days"),
        ({"message_hours": True}, "message_hours"),
        ({"message_hours": "24"}, "message_hours"),
        ({"ignore_weekend": "yes"}, "true or false"),
        ({"time_zone": "Berlin"}, "Europe/Berlin"),
        ({"time_zone": 5}, "time zone"),
        ({"holidays": "2026-12-25"}, "list"),
        ({"holidays": ["Christmas"]}, "Christmas"),
        ({"holidays": ["2026-12-25"] * 501}, "500"),
        ({"messageRetentionHours": 24}, "messageRetentionHours"),
        ({}, "empty"),
    ],
)
def test_an_invalid_value_is_refused_and_nothing_is_stored(
    ada: Caller, values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        set_config(ada, **values, **({"change_days": 3} if "change_days" not in values and values else {}))
    assert config(ada) == DEFAULTS


def test_a_setting_name_of_sqlew_gets_a_suggestion(ada: Caller) -> None:
    with pytest.raises(InvalidInput) as refusal:
        set_config(ada, ignoreWeekend=True)
    assert refusal.value.details["did_you_mean"] == "ignore_weekend"


def test_only_an_administrator_changes_settings(ben_mcp: McpClient, ben_rest: RestClient) -> None:
    assert ben_mcp.call("hub", "config_set", values={"change_days": 3})["error"] == "not_allowed"
    assert ben_rest.patch("config/", {"values": {"change_days": 3}}).status == 403
    assert ben_mcp.call("hub", "config") == DEFAULTS
    with pytest.raises(NotAllowed):
        call(
            Caller(project=Project.objects.get(slug="apollo"), agent="x", scopes=frozenset({"write"})),
            "hub",
            {"action": "config_set", "values": {}},
        )


def test_another_project_keeps_its_own_settings(ada: Caller, cy: Caller) -> None:
    set_config(ada, message_hours=48)
    assert config(cy) == DEFAULTS


def test_only_a_real_change_of_settings_is_logged(ada: Caller) -> None:
    for _ in range(2):
        set_config(ada, message_hours=48)
    [event] = Event.objects.in_project(ada.project_id).filter(noun="config")
    assert (event.verb, event.data) == (
        "updated",
        {"changed": ["message_hours"], "old": {"message_hours": 24}, "new": {"message_hours": 48}},
    )
