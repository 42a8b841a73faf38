"""What the walk asks for: apollo with an object of each kind, and hermes, a project of strangers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from ctxhub.core.accounts.access_tokens import create_token, forget_tokens
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import BinItem, Category, Project, Scope, SignInFailure, Tag
from ctxhub.core.project_deletion import delete_project
from ctxhub.core.webhooks.services import add_webhook, send_test
from ctxhub.toolbox.dispatch import call
from tests.core.test_nulls import create_one_of_each
from tests.databases import rolled_back
from tests.every_row import row_of_every_model
from tests.roles.people import Asker, people, tokens

WORD = "apollonian"


@dataclass(frozen=True)
class World:
    apollo: Project
    hermes: Project
    ids: Mapping[str, Any]
    rows: Mapping[type[Model], Model]
    tokens: Sequence[Asker]
    people: Sequence[Asker]

    @property
    def all(self) -> Sequence[Asker]:
        return [*self.people, *self.tokens]


def make_world() -> World:
    apollo, hermes = create_project(slug="apollo"), create_project(slug="hermes")
    ada, ben = Caller(project=apollo, agent="ada"), Caller(project=apollo, agent="ben")
    rows = row_of_every_model(apollo, WORD)
    rows |= {model: model.objects.create(project=apollo, name="unused") for model in (Tag, Scope, Category)}
    ids = create_one_of_each(ada, ben)
    now = clock.now()
    rows[SignInFailure] = SignInFailure.objects.create(
        name="mallory", address="192.0.2.1", first_at=now, last_at=now
    )
    rows[User] = User.objects.create_user("mia")
    asked = {"action": "send", "text": "Who does it?", "type": "request", "ack": True}
    webhook = add_webhook(caller=ada, url="https://example.com/hook").row.pk
    delivery = send_test(caller=ada, webhook_id=webhook).pk
    named = {
        "request": call(ben, "message", asked)["id"],
        "change": call(ada, "file", {"action": "changes"})["rows"][0][0],
        "webhook": webhook,
        "delivery": delivery,
        "token": create_token(project=apollo, name="spare").row.pk,
        "bin": BinItem.objects.in_project(apollo).latest("pk").pk,
    }
    return World(apollo, hermes, {**ids, **named}, rows, tokens(apollo, hermes), people(apollo, hermes))


@contextmanager
def without_apollo(world: World) -> Iterator[None]:
    """As if apollo had never been there."""
    with rolled_back():
        delete_project(Project.objects.get(pk=world.apollo.pk))
        forget_tokens()
        yield
    forget_tokens()
