"""Finds what nobody was given: old enough, and in no recorded answer."""

from datetime import datetime

from sessions.briefings.sql.never_given import NeverGiven, read_never_given


def never_given(project_id: int, kind: str, before: datetime, limit: int) -> NeverGiven:
    """How many decisions in force ("decision") or memories ("memory") from before a time, and the oldest."""
    return read_never_given(project_id, kind, before, limit)
