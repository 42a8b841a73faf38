"""A project's settings and their defaults."""

from datetime import timedelta

from ctxhub.core.kit.frozen import frozen


@frozen
class Config:
    """A project's settings. `Project.config` stores those that differ from these defaults.

    `ignore_weekend`: Saturdays, Sundays and `holidays` (ISO dates), in the project's `time_zone`, do not
    count towards the age of messages and changes. `record_given`: what agents open and write is recorded;
    `tell_stale`: they hear when a decision among it changes. `ignore_case_in_paths`: `SRC/A.py` is
    `src/a.py`, as on macOS and Windows. `escalate_minutes`: after which the log says that a request
    nobody claims, or a message to be acknowledged that nobody reads, waits; 0: never.
    """

    ignore_weekend: bool = False
    time_zone: str = "UTC"
    holidays: tuple[str, ...] = ()
    message_hours: int = 24
    change_days: int = 7
    scratchpad_days: int = 7
    session_days: int = 30
    access_days: int = 90
    auto_prune: bool = False
    tell_stale: bool = True
    record_given: bool = True
    ignore_case_in_paths: bool = False
    escalate_minutes: int = 0

    @property
    def messages_last(self) -> timedelta:
        return timedelta(hours=self.message_hours)

    @property
    def changes_last(self) -> timedelta:
        return timedelta(days=self.change_days)
