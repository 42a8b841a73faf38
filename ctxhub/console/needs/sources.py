"""What apps tell a person to look after: they append functions to `sources`, since core imports no app."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse

from ctxhub.console.urls import in_project, list_url
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from ctxhub.core.models import Project

SHOWN = 6


@frozen
class Name:
    """The name of an agent, a workflow and so on, in a sentence. `agent_id`: of a registered agent."""

    text: str
    agent_id: int | None = None


@frozen
class Quote:
    """The beginning of what somebody wrote."""

    text: str


@frozen
class Files:
    """A path or a glob."""

    pattern: str


@frozen
class Since:
    """How long something lasts, in words: "for 3 h", "since Thursday"."""

    at: datetime


@frozen
class Ago:
    """When something was: "5 minutes ago"."""

    at: datetime


Part = str | Name | Quote | Files | Since | Ago


@frozen
class PageLink:
    label: str
    url: str


@frozen
class Button:
    """Posts `name=value` to `url`. Shown to people who have the scope in the project."""

    label: str
    url: str
    name: str
    value: str
    scope: str


@frozen
class Need:
    """A sentence about something that waits for a person. `key` is its own among all needs.

    `since` orders needs of equal urgency, the oldest first. `look`: a CSS class, in place of the urgency's.
    """

    key: str
    project_id: int
    urgency: Priority
    icon: str
    sentence: Sequence[Part]
    since: datetime
    actions: Sequence[PageLink | Button]
    look: str = ""


@frozen
class FoundNeeds:
    """The most urgent needs of one kind, `total` in all, `url` of the list: 3 `plural` `which`."""

    needs: Sequence[Need]
    total: int
    plural: str
    which: str
    url: str


@frozen
class Reader:
    """Who reads: the projects shown, by id, the chosen one of them, and the name the person acts under.

    `page`: the URL of the page. `user_id`: of their account; `administrated`: the projects that they keep.
    """

    projects: Mapping[int, Project]
    chosen: Project | None
    name: str
    page: str
    user_id: int = 0
    administrated: Sequence[int] = ()

    @property
    def project_ids(self) -> Sequence[int]:
        return list(self.projects)

    def list_url(self, model: str, project_id: int | None = None, /, **filters: Any) -> str:
        """The list of a model in one project, else in all that are shown."""
        return list_url(model, self.projects[project_id] if project_id else self.chosen, **filters)

    def button_url(self, view: str, project_id: int, /) -> str:
        """The URL of a view of the admin that writes in the project and then returns to the page."""
        return in_project(reverse(f"admin:{view}"), self.projects[project_id], next=self.page)


Source = Callable[[Reader], FoundNeeds]
"""Finds at most SHOWN needs, the most urgent ones, in a number of queries that does not grow."""

sources: list[Source] = []
