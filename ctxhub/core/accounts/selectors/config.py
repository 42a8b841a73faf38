"""Reads a project's settings."""

from dataclasses import asdict
from typing import Any

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.models import Project


def config_of(project_id: int) -> Config:
    stored = Project.objects.values_list("config", flat=True).get(pk=project_id)
    holidays = tuple(stored.get("holidays", ()))
    return Config(**{**stored, "holidays": holidays})


def config_values(config: Config) -> dict[str, Any]:
    return {**asdict(config), "holidays": list(config.holidays)}
