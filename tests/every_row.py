"""A row of every model that the admin shows, in one project."""

from collections.abc import Iterator

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model

from ctxhub.console.base import ProjectAdmin
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import invite
from ctxhub.core.hub.deleting import delete_refs
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import Import, Layer, Membership, Project
from ctxhub.core.paths.counting import count_changes
from ctxhub.core.refusals.services import WRITER, count_refusal
from ctxhub.core.use import tally
from ctxhub.core.use.tally import Call, found_nothing
from ctxhub.core.webhooks.services import add_webhook
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.models import Memory
from sessions.accesses.services import add_dependency, track_access
from tests.contract.pages import PAGES, relate
from tests.sessions.given import read
from tracking.changes.services import record_change


def project_admins() -> Iterator[ProjectAdmin]:
    return (each for each in admin.site._registry.values() if isinstance(each, ProjectAdmin))


def row_of_every_model(project: Project, word: str) -> dict[type[Model], Model]:
    """All of them contain the word."""
    cy = Caller(project=project, agent=f"{word}-agent")
    rows = {page.model: page.make_with(cy, word) for page in PAGES}
    relate(cy, rows[Memory].ref, "decision:api/auth/method")
    create_token(project=project, name=word)
    host = User.objects.create_user(word)
    invite(caller=cy, name=word, role=Membership.Role.VIEWER, created_by=host)
    add_webhook(caller=cy, url=f"https://{word}.example.com/")
    Layer.objects.create(project=project, name=word)
    add_constraint(caller=cy, category=word, text="x", paths=[f"{word}/**"])
    other = Caller(project=project, agent=f"{word}-other")
    record_change(caller=other, path=f"{word}/file", change="created", description=word)
    count_changes(project.pk)
    track_access(caller=cy, path=f"{word}/file", access="edited", content=word)
    add_dependency(caller=cy, source=f"{word}/file", target=f"{word}/x", type=word)
    read(cy, "decision:api/auth/method")
    set_decision(caller=cy, key=f"{word}/deleted", value=word)
    delete_refs(caller=cy, refs=[f"decision:{word}/deleted"])
    count_refusal(cy, Conflict(word, about="decision:api/auth/method"))
    WRITER.flush()
    with Call(cy, word) as made:
        found_nothing(word)
    made.answered(1)
    tally.WRITER.flush()
    tally.EMPTY_SEARCHES.flush()
    now = clock.now()
    brought = Import.objects.create(project=project, by=word, started_at=now, alive_until=now)
    project_rows = [model_admin.model for model_admin in project_admins() if model_admin.model is not Project]
    return {
        Project: project,
        Import: brought,
        **{model: model._base_manager.filter(project=project).latest("pk") for model in project_rows},
    }
