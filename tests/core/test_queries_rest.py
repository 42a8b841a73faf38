"""The number of queries of a list does not grow with the number of rows."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Membership, Project, Scope, Tag
from ctxhub.core.vocabulary.services import add_layer

PROJECT = "/api/v1/projects/apollo/"


def make_rows(caller: Caller, count: int) -> None:
    project = caller.project
    for number in range(count):
        name = f"{count}-{number}"
        for model in (Tag, Scope):
            model.objects.create(project=project, name=name)
        Agent.objects.create(project=project, name=name, last_seen_at=clock.now() - timedelta(days=1))
        add_layer(caller=caller, name=name)
        create_token(project=project, agent=name)


def queries_of(client: APIClient, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path, {"limit": 200}).status_code == 200
    return len(queries)


@pytest.mark.parametrize("path", ["tags/", "scopes/", "layers/", "agents/", "activity/", "/api/v1/tokens/"])
def test_queries_do_not_grow_with_rows(ada: Caller, apollo: Project, path: str) -> None:
    secret = create_token(project=apollo, scopes=["read", "admin"]).secret
    client = APIClient(headers={"Authorization": f"Bearer {secret}"})
    address = path if path.startswith("/") else PROJECT + path
    make_rows(ada, 2)
    few = queries_of(client, address)
    make_rows(ada, 12)
    most = 7 if path == "agents/" else 5  # One for the columns of each app.
    assert queries_of(client, address) == few <= most


@pytest.mark.django_db
def test_queries_do_not_grow_with_projects() -> None:
    person = User.objects.create_user("grace")
    client = APIClient()
    client.force_login(person)

    def join(*slugs: str) -> None:
        for slug in slugs:
            Membership.objects.create(project=create_project(slug=slug), user=person)

    join("one", "two")
    few = queries_of(client, "/api/v1/projects/")
    join("three", "four", "five", "six")
    assert queries_of(client, "/api/v1/projects/") == few
