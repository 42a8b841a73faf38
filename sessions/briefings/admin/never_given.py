"""What nobody was given, for the page of use: old enough, and in no recorded answer."""

from collections.abc import Sequence
from datetime import timedelta

from django.urls import reverse

from ctxhub.core.accounts.selectors.config import read_config
from ctxhub.core.admin.use.page import Unread, unread
from ctxhub.core.kit import clock
from ctxhub.core.models import Project
from sessions.briefings.selectors.never_given import never_given

OLD = timedelta(days=7)
TITLES = {"decision": "Decisions nobody was given", "memory": "Memories nobody was given"}
PAGES = {"decision": "admin:memory_decision_change", "memory": "admin:memory_memory_change"}


def find_never_given(project: Project, limit: int) -> Sequence[Unread]:
    """Nothing where the project does not record what agents are given."""
    if not read_config(project.config).record_given:
        return []
    before = clock.now() - OLD
    kinds = []
    for kind, title in TITLES.items():
        found = never_given(project.pk, kind, before, limit)
        rows = [(text, reverse(PAGES[kind], args=[object_id])) for object_id, text in found.oldest]
        kinds.append(Unread(title, found.total, rows))
    return kinds


unread.append(find_never_given)
