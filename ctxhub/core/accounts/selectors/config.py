"""Reads a project's settings."""

from collections.abc import Mapping
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.models import Project
from ctxhub.core.toolbox.argument_types import About


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


def config_of(project_id: int) -> Config:
    return read_config(Project.objects.values_list("config", flat=True).get(pk=project_id))


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
        )
    )
