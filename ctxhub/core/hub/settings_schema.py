"""The JSON schemas of a project's settings, for OpenAPI; the service checks them."""


def _integer(at_least: int, at_most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": at_least, "maximum": at_most}


SETTINGS: dict[str, dict[str, object]] = {
    "ignore_weekend": {"type": "boolean"},
    "time_zone": {"type": "string", "minLength": 1},
    "holidays": {"type": "array", "items": {"type": "string", "format": "date"}},
    "message_hours": _integer(1, 168),
    "change_days": _integer(1, 90),
    "scratchpad_days": _integer(0, 365),
    "session_days": _integer(0, 3650),
    "access_days": _integer(0, 3650),
    "auto_prune": {"type": "boolean"},
    "tell_stale": {"type": "boolean"},
    "record_given": {"type": "boolean"},
    "ignore_case_in_paths": {"type": "boolean"},
    "escalate_minutes": _integer(0, 10_080),
}
