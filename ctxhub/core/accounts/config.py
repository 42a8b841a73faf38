"""A project's settings: read, and changed by its administrators."""

import zoneinfo
from collections.abc import Callable, Collection, Mapping
from datetime import date
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.accounts.models import Config
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown, shown_all
from ctxhub.core.kit.likeness import nearest
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Project
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About


class Settings(TypedDict):
    ignore_weekend: bool
    time_zone: str
    holidays: list[Annotated[str, About(schema={"format": "date"})]]
    message_hours: Annotated[int, About(schema={"minimum": 1, "maximum": 168})]
    change_days: Annotated[int, About(schema={"minimum": 1, "maximum": 90})]
    scratchpad_days: Annotated[int, About(schema={"minimum": 0, "maximum": 365})]
    session_days: Annotated[int, About(schema={"minimum": 0, "maximum": 3650})]
    access_days: Annotated[int, About(schema={"minimum": 0, "maximum": 3650})]
    auto_prune: bool
    tell_stale: bool
    record_given: bool
    ignore_case_in_paths: bool
    escalate_minutes: Annotated[int, About(schema={"minimum": 0, "maximum": 10_080})]
    enrolment: bool


def config_of(project_id: int) -> Config:
    """Raises Project.DoesNotExist for one that was deleted."""
    found = configs_of([project_id])
    if project_id not in found:
        raise Project.DoesNotExist
    return found[project_id]


def configs_of(project_ids: Collection[int]) -> dict[int, Config]:
    """The settings of those of the projects that exist."""
    among, values = sql.among("id", list(project_ids))
    found = sql.rows(f"SELECT id, config FROM core_project WHERE {among}", values)
    return {project_id: read_config(sql.read_json(stored)) for project_id, stored in found}


def read_config(stored: Mapping[str, Any]) -> Config:
    """The settings as `Project.config` stores them."""
    holidays = tuple(stored.get("holidays", ()))
    return Config(**{**stored, "holidays": holidays})


def config_values(config: Config) -> dict[str, Any]:
    return dict(
        Settings(
            ignore_weekend=config.ignore_weekend,
            time_zone=config.time_zone,
            holidays=list(config.holidays),
            message_hours=config.message_hours,
            change_days=config.change_days,
            scratchpad_days=config.scratchpad_days,
            session_days=config.session_days,
            access_days=config.access_days,
            auto_prune=config.auto_prune,
            tell_stale=config.tell_stale,
            record_given=config.record_given,
            ignore_case_in_paths=config.ignore_case_in_paths,
            escalate_minutes=config.escalate_minutes,
            enrolment=config.enrolment,
        )
    )


MOST_HOLIDAYS = 500
MOST_MINUTES = 7 * 24 * 60


def set_config(*, caller: Caller, values: Mapping[str, Any]) -> dict[str, Any]:
    """Change some settings and return all; null restores a default. Raises InvalidInput.

    Ranges: message_hours 1..168, change_days 1..90, scratchpad_days 0..365, session_days and access_days
    0..3650, escalate_minutes 0..10080; `time_zone` is an IANA name, `holidays` a list of ISO dates.
    """
    cleaned = {name: _clean(name, value) for name, value in values.items()}
    if not cleaned:
        raise InvalidInput("values is empty.", allowed=list(_CLEANERS), missing=["values"])
    with write_transaction(caller.project_id):
        old = config_values(config_of(caller.project_id))
        new = {**old, **cleaned}
        changed = [name for name in new if new[name] != old[name]]
        if changed:
            _store(caller, old, new, changed)
    # Later calls of a process on stdio have the same project.
    caller.project.config = _differing(new)
    return new


def clean_config(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from the defaults, as `Project.config` stores them. Raises InvalidInput."""
    return _differing(
        {**config_values(Config()), **{name: _clean(name, each) for name, each in values.items()}}
    )


def _store(caller: Caller, old: Mapping[str, Any], new: Mapping[str, Any], changed: list[str]) -> None:
    Project.objects.filter(pk=caller.project_id).update(config=_differing(new))
    at = clock.now()
    data = {
        "changed": changed,
        "old": {name: old[name] for name in changed},
        "new": {name: new[name] for name in changed},
    }
    record(
        project_id=caller.project_id,
        agent_id=register_agent(caller, at),
        changes=[Change("config", "updated", "config:project", data)],
        at=at,
    )


def _differing(values: Mapping[str, Any]) -> dict[str, Any]:
    defaults = config_values(Config())
    return {name: value for name, value in values.items() if value != defaults[name]}


def _clean(name: str, value: Any) -> Any:
    if name not in _CLEANERS:
        raise InvalidInput(
            f"There is no setting {shown(name)}.",
            did_you_mean=_OTHER_NAMES.get(name) or nearest(name, list(_CLEANERS)),
            allowed=list(_CLEANERS),
        )
    return config_values(Config())[name] if value is None else _CLEANERS[name](name, value)


def _integer(at_least: int, at_most: int) -> Callable[[str, Any], int]:
    def clean(name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value <= at_most:
            raise InvalidInput(
                f"{name} must be a whole number from {at_least} to {at_most:,}, not {shown(value)}."
            )
        return value

    return clean


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, not {shown(value)}.")
    return value


def _time_zone(name: str, value: Any) -> str:
    known = zoneinfo.available_timezones()
    if not isinstance(value, str) or value not in known:
        raise InvalidInput(
            f"{name}: {shown(value)} is not a time zone; use an IANA name: Europe/Berlin.",
            did_you_mean=nearest(str(value), sorted(known)),
        )
    return value


def _holidays(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_HOLIDAYS:
        raise InvalidInput(f"{name} must be a list of at most {MOST_HOLIDAYS} dates.")
    wrong = [day for day in value if not _is_date(day)]
    if wrong:
        raise InvalidInput(f"{name}: {shown_all(wrong)} is no ISO date (2026-12-25).")
    return sorted({date.fromisoformat(day).isoformat() for day in value})


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value))
    except ValueError:
        return False


_CLEANERS: dict[str, Callable[[str, Any], Any]] = {
    "ignore_weekend": _flag,
    "time_zone": _time_zone,
    "holidays": _holidays,
    "message_hours": _integer(1, 168),
    "change_days": _integer(1, 90),
    "scratchpad_days": _integer(0, 365),
    "session_days": _integer(0, 3_650),
    "access_days": _integer(0, 3_650),
    "auto_prune": _flag,
    "tell_stale": _flag,
    "record_given": _flag,
    "ignore_case_in_paths": _flag,
    "escalate_minutes": _integer(0, MOST_MINUTES),
    "enrolment": _flag,
}
_OTHER_NAMES = {
    "ignoreWeekend": "ignore_weekend",
    "messageRetentionHours": "message_hours",
    "fileHistoryRetentionDays": "change_days",
    "autodelete_ignore_weekend": "ignore_weekend",
    "autodelete_message_hours": "message_hours",
    "autodelete_file_history_days": "change_days",
}
