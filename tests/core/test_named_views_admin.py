"""The named views as admin pages."""

from django.test import Client

from ctxhub.core.hub.named_views import all_views
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision_batch
from tests.people import MEMBER, member, superuser

VIEWS = "/admin/views"


def test_every_view_has_a_page(apollo: Project) -> None:
    client = member(apollo)
    for view in all_views().values():
        page = client.get(f"{VIEWS}/{view.name}/").content.decode()
        assert view.says in page
        assert "Views" in page


def test_a_view_shows_the_rows_that_agents_get(ada: Caller, apollo: Project) -> None:
    set_decision_batch(
        caller=ada, items=[{"key": "db/engine", "value": "<b>PostgreSQL</b>", "layer": "data"}]
    )
    page = member(apollo).get(f"{VIEWS}/tagged_decisions/?project=apollo").content.decode()
    assert "db/engine" in page
    assert "&lt;b&gt;PostgreSQL&lt;/b&gt;" in page


def test_a_long_view_comes_in_pages(ada: Caller, apollo: Project) -> None:
    for start in (0, 50):
        items = [{"key": f"k{n:02}", "value": n} for n in range(start, start + 50)]
        set_decision_batch(caller=ada, items=items[: 50 if start == 0 else 10])
    client = member(apollo)
    first = client.get(f"{VIEWS}/tagged_decisions/?project=apollo")
    second = client.get(first.context["next"])
    shown = [row[0].value for page in (first, second) for row in page.context["rows"]]
    assert sorted(shown) == [f"k{n:02}" for n in range(60)]
    assert not second.context["next"]


def test_an_invalid_cursor_redirects_to_the_first_page(apollo: Project) -> None:
    reply = member(apollo).get(f"{VIEWS}/tagged_decisions/?project=apollo&cursor=x")
    assert reply.status_code == 302
    assert "cursor" not in reply["Location"]


def test_a_stranger_sees_nothing_of_a_project(ada: Caller, apollo: Project, hermes: Project) -> None:
    set_decision_batch(caller=ada, items=[{"key": "secret/key", "value": 1}])
    stranger = member(hermes, MEMBER, "cleo")
    for view in all_views():
        page = stranger.get(f"{VIEWS}/{view}/?project=apollo").content.decode()
        assert "secret/key" not in page


def test_a_superuser_has_to_choose_a_project(apollo: Project, hermes: Project) -> None:
    page = superuser().get(f"{VIEWS}/layer_summary/").content.decode()
    assert "Choose a project" in page
    assert f"{VIEWS}/layer_summary/?project=hermes" in page


def test_an_unknown_view_is_404(apollo: Project) -> None:
    assert member(apollo).get(f"{VIEWS}/nothing/").status_code == 404


def test_a_view_requires_signing_in(apollo: Project) -> None:
    assert Client().get(f"{VIEWS}/layer_summary/").status_code == 302
