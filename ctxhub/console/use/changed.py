"""What changes most, for the page of use; apps register how they find it."""

from collections.abc import Callable, Sequence
from datetime import datetime

from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project


@frozen
class Changed:
    """`changes`: new versions in a period; `version`: the current one; `at`: of the last change."""

    name: str
    url: str
    changes: int
    version: str
    at: datetime


# For a project, a period and a number of rows.
most_changed_of: list[Callable[[Project, Period, int], Sequence[Changed]]] = []
