"""The last backup, and the last drill that proved that one can be restored."""

from collections.abc import Iterator
from datetime import timedelta

from ctxhub.core.kit import clock
from ctxhub.core.records.models import HubRecord
from ctxhub.core.records.services import find_record
from ctxhub.management.doctor.findings import PROBLEM, WARNING, Finding, is_for_others, ok, worse

OLD_BACKUP, OLD_DRILL = timedelta(days=7), timedelta(days=30)
BACK_UP = "manage.py backup /var/backups/ctxhub --keep 7d,4w,12m, each night: docs/team-server.md"


def check_backup() -> Iterator[Finding]:
    record = find_record(HubRecord.Kind.BACKUP)
    if record is None:
        yield Finding(worse(is_for_others()), "no backup was ever made", BACK_UP)
    elif clock.now() - record.at > OLD_BACKUP:
        text = f"the last backup is of {clock.format_time(record.at)}, more than a week ago"
        yield Finding(worse(is_for_others()), text, BACK_UP)
    else:
        yield ok(f"the last backup is of {clock.format_time(record.at)}")


def check_drill() -> Iterator[Finding]:
    record = find_record(HubRecord.Kind.DRILL)
    if record is None:
        yield Finding(WARNING, "no drill has proved that a backup can be restored", "manage.py drill")
    elif not record.details.get("is_right"):
        text = f"the drill of {clock.format_time(record.at)} failed: {record.details.get('result', '')}"
        yield Finding(PROBLEM, text, "Mend what it says, then once more: manage.py drill")
    elif clock.now() - record.at > OLD_DRILL:
        text = f"the last drill is of {clock.format_time(record.at)}, more than a month ago"
        yield Finding(WARNING, text, "manage.py drill")
    else:
        yield ok(f"the drill of {clock.format_time(record.at)} restored a backup")
