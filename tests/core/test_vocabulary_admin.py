"""Layers, tags and scopes in the admin."""

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Layer, Membership, Project, Scope, Tag
from memory.decisions.services import set_decision
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in, superuser

pytestmark = pytest.mark.usefixtures("index_is_kept")


@pytest.fixture
def admin(apollo: Project) -> Client:
    return member(apollo, ADMIN, "vera")


def layer_named(project: Project, name: str) -> Layer:
    return Layer.objects.in_project(project).get(name=name)


def test_a_layer_is_added_below_the_others(admin: Client, apollo: Project) -> None:
    admin.post(reverse("admin:core_layer_add"), {"name": "documentation"})
    assert list(Layer.objects.in_project(apollo).values_list("name", flat=True))[-1] == "documentation"


def test_a_rename_is_an_event_under_the_persons_name(admin: Client, apollo: Project) -> None:
    layer = layer_named(apollo, "data")
    admin.post(reverse("admin:core_layer_change", args=[layer.pk]), {"name": "storage"})
    event = Event.unscoped.select_related("agent").latest("pk")
    assert (str(event), str(event.agent), event.data) == ("updated layer:storage", "vera", {"was": "data"})


@pytest.mark.parametrize("name", ["DATA", " data "])
def test_a_taken_name_is_an_error_on_the_form(admin: Client, apollo: Project, name: str) -> None:
    page = admin.post(reverse("admin:core_layer_add"), {"name": name})
    assert "There is a layer &#x27;data&#x27; already." in page.content.decode()
    assert Layer.objects.in_project(apollo).count() == 5


def test_a_tag_may_be_renamed_to_another_spelling(admin: Client, apollo: Project) -> None:
    tag = Tag.objects.in_project(apollo).get(name="api")
    admin.post(reverse("admin:core_tag_change", args=[tag.pk]), {"name": "API"})
    tag.refresh_from_db()
    assert (tag.name, tag.folded) == ("API", "api")


def test_a_word_in_use_is_not_deleted_and_the_page_says_why(
    admin: Client, ada: Caller, apollo: Project
) -> None:
    set_decision(caller=ada, key="db/engine", value="PostgreSQL", layer="data")
    layer = layer_named(apollo, "data")
    for send in (admin.get, admin.post):
        page = send(reverse("admin:core_layer_delete", args=[layer.pk]), {"post": "yes"}, follow=True)
        assert "cannot be deleted while it is in use. It is used once." in page.content.decode()
    assert Layer.objects.in_project(apollo).filter(pk=layer.pk).exists()


def test_words_in_use_are_not_deleted_with_others(admin: Client, ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="db/engine", value="PostgreSQL", layer="data")
    rows = [layer_named(apollo, name).pk for name in ("data", "business")]
    form = {"action": "delete_selected", "_selected_action": rows, "post": "yes"}
    assert "while it is in use" in admin.post(reverse("admin:core_layer_changelist"), form).content.decode()
    assert Layer.objects.in_project(apollo).count() == 5


def test_an_unused_word_is_deleted(admin: Client, apollo: Project) -> None:
    tag = Tag.objects.in_project(apollo).get(name="testing")
    admin.post(reverse("admin:core_tag_delete", args=[tag.pk]), {"post": "yes"})
    assert not Tag.objects.in_project(apollo).filter(pk=tag.pk).exists()
    assert str(Event.unscoped.latest("pk")) == "deleted tag:testing"


def drag(client: Client, layers: list[Layer], query: str = "") -> int:
    """Posts the form of the page after layers were dragged into this order."""
    form: dict[str, object] = {f"form-{n}-id": layer.pk for n, layer in enumerate(layers)}
    form |= {f"form-{n}-position": n for n in range(len(layers))}
    form |= {"form-TOTAL_FORMS": len(layers), "form-INITIAL_FORMS": len(layers), "_save": "Save"}
    return client.post(reverse("admin:core_layer_changelist") + query, form).status_code


@pytest.mark.every_engine
def test_layers_are_reordered(admin: Client, apollo: Project) -> None:
    reversed_layers = list(Layer.objects.in_project(apollo).order_by("-position"))
    assert drag(admin, reversed_layers) == 302
    assert list(Layer.objects.in_project(apollo).order_by("position")) == reversed_layers


def test_a_member_cannot_reorder_layers(apollo: Project) -> None:
    reversed_layers = list(Layer.objects.in_project(apollo).order_by("-position"))
    drag(member(apollo), reversed_layers)
    assert list(Layer.objects.in_project(apollo).order_by("position")) != reversed_layers


def test_dragging_is_offered_to_an_administrator_of_one_project(apollo: Project, hermes: Project) -> None:
    user = person("ada", apollo, ADMIN)
    Membership.objects.create(project=hermes, user=user, role=VIEWER)
    page = reverse("admin:core_layer_changelist")

    def offers(query: str) -> bool:
        return "x-sort:handle" in signed_in(user).get(page + query).content.decode()

    queries = ("?project=apollo", "?project=hermes", "", "?project=apollo&q=data", "?project=apollo&o=1")
    assert [offers(query) for query in queries] == [True, False, False, False, False]


def test_layers_of_another_project_keep_their_order(apollo: Project, hermes: Project) -> None:
    first, second, *rest = Layer.objects.in_project(hermes).order_by("position")
    before = list(Layer.objects.in_project(apollo).order_by("pk").values())
    assert drag(superuser(), [second, first, *rest], "?project=hermes") == 302
    assert list(Layer.objects.in_project(hermes).order_by("position"))[:2] == [second, first]
    assert list(Layer.objects.in_project(apollo).order_by("pk").values()) == before
    moved = Event.unscoped.filter(verb="updated").values_list("ref", flat=True)
    assert set(moved) == {f"layer:{first.name}", f"layer:{second.name}"}


def test_with_several_projects_the_person_is_asked_for_one(apollo: Project, hermes: Project) -> None:
    client = superuser()
    assert "To which project?" in client.get(reverse("admin:core_tag_add")).content.decode()
    client.post(f"{reverse('admin:core_tag_add')}?project=hermes", {"name": "mail"})
    assert Tag.unscoped.get(name="mail").project == hermes


def test_a_list_of_one_project_adds_to_that_project(apollo: Project, hermes: Project) -> None:
    url = f"{reverse('admin:core_tag_add')}?_changelist_filters=project%3Dapollo"
    superuser().post(url, {"name": "moon"})
    assert Tag.unscoped.get(name="moon").project == apollo


@pytest.mark.parametrize("query", ["?project=apollo", "?_changelist_filters=project%3Dapollo"])
def test_a_word_is_never_added_to_another_project_than_the_one_shown(
    query: str, apollo: Project, hermes: Project
) -> None:
    """Vi may write only in hermes, and views apollo."""
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    page = signed_in(user).post(reverse("admin:core_tag_add") + query, {"name": "moon"})
    assert "You can read apollo, but you cannot add tags to it." in page.content.decode()
    assert '<a class="ctx-link" href="?project=hermes">' in page.content.decode()
    assert not Tag.unscoped.filter(name="moon").exists()


def test_an_unknown_project_is_not_replaced_by_another(admin: Client) -> None:
    page = admin.post(f"{reverse('admin:core_tag_add')}?project=mars", {"name": "moon"})
    assert "You are not a member of any project named &#x27;mars&#x27;." in page.content.decode()
    assert not Tag.unscoped.filter(name="moon").exists()


def test_the_add_link_is_shown_only_to_those_who_may_add(apollo: Project, hermes: Project) -> None:
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    page = reverse("admin:core_tag_changelist")
    pages = [signed_in(user).get(f"{page}?project={project}") for project in (apollo, hermes)]
    assert [answer.context["has_add_permission"] for answer in pages] == [False, True]


def test_the_page_that_adds_names_the_project(admin: Client) -> None:
    assert (
        '<h2 class="ctx-heading">Add tag to apollo</h2>'
        in admin.get(reverse("admin:core_tag_add")).content.decode()
    )


@pytest.mark.parametrize("kind", ["tag", "scope", "layer"])
def test_a_word_links_to_its_decisions_and_its_events(
    kind: str, admin: Client, ada: Caller, apollo: Project
) -> None:
    set_decision(caller=ada, key="db", value=1, layer="data", tags=["data"], scopes=["data"])
    word = {"tag": Tag, "scope": Scope, "layer": Layer}[kind].unscoped.get(name="data")
    link = f'href="/admin/memory/decision/?project=apollo&amp;{kind}=data">decisions</a>'
    assert link in admin.get(reverse(f"admin:core_{kind}_changelist")).content.decode()
    page = reverse(f"admin:core_{kind}_change", args=[word.pk])
    assert link in admin.get(page).content.decode()
    admin.post(page, {"name": "storage"})
    history = admin.get(reverse(f"admin:core_{kind}_history", args=[word.pk]), follow=True)
    assert [str(event) for event in history.context["cl"].result_list] == [f"updated {kind}:storage"]
