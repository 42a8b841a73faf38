"""The search page of the admin, and the search box on every page."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils.html import strip_tags

from ctxhub.console.search_hits import Card
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.constraints.services import add_constraint
from memory.decisions.services import deprecate_decision, set_decision, set_decision_batch
from messaging.messages.services import send_message
from tests.people import MEMBER, VIEWER, member, person, signed_in, superuser
from tracking.changes.services import record_change

SEARCH = "/admin/search/"


@pytest.fixture
def lore(ada: Caller, ben: Caller) -> None:
    """Rows of every kind about sessions in apollo."""
    set_decision(
        caller=ada,
        key="auth/sessions",
        value="Sessions expire after 15 minutes.",
        rationale="A stolen laptop must not stay signed in.",
        tags=["auth", "security"],
        layer="business",
    )
    set_decision(caller=ben, key="db/engine", value="PostgreSQL", rationale="Many writers.", layer="data")
    add_constraint(caller=ada, category="security", text="No session may outlive a deploy.", layer="business")
    send_message(caller=ben, to=["ada"], text="Did you see why sessions expire so early?")
    record_change(caller=ada, path="src/auth/sessions.py", change="modified", description="Sessions expire.")


def get_page(client: Client, q: str, **params: str) -> Any:
    page = client.get(f"{SEARCH}?{urlencode({'q': q, **params})}")
    assert page.status_code == 200
    return page


def find_cards(client: Client, q: str, **params: str) -> list[Card]:
    cards: list[Card] = get_page(client, q, **params).context["cards"]
    return cards


def find_refs(client: Client, q: str, **params: str) -> list[str]:
    return [re.sub(r"\d+", "N", card.ref) for card in find_cards(client, q, **params)]


def page_text(client: Client, q: str, **params: str) -> str:
    return " ".join(get_page(client, q, **params).content.decode().split())


# -- Hits ------------------------------------------------------------------------------------------


def test_hits_of_every_kind_link_to_their_page(lore: None, apollo: Project) -> None:
    client = member(apollo)
    cards = find_cards(client, "why do sessions expire")
    kinds = {card.kind for card in cards}
    assert kinds == {"decision", "constraint", "message", "file", "file change"}
    for card in cards:
        assert card.url is not None
        assert client.get(card.url).status_code == 200


def test_query_words_are_marked_in_hits(lore: None, apollo: Project) -> None:
    page = page_text(member(apollo), "session expires", kind="decision")
    assert "auth/<mark>sessions</mark>" in page
    assert "<mark>Sessions</mark> <mark>expire</mark> after 15 minutes." in page


def test_a_hit_shows_its_tags_agent_and_status(lore: None, ada: Caller, apollo: Project) -> None:
    deprecate_decision(caller=ada, key="auth/sessions", reason="Tokens now.")
    [card] = find_cards(member(apollo), "laptop")
    assert (card.title, card.mark, card.tags, card.agent) == (
        "auth/sessions",
        "deprecated",
        ["auth", "security"],
        "ada",
    )


def test_chinese_is_found_and_marked(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="数据库/选择", value="我们使用关系型数据库保存所有决定")
    page = page_text(member(apollo), "数据库")
    assert "<mark>数据库</mark>/选择" in page
    assert "我们使用关系型<mark>数据库</mark>保存所有决定" in page


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {},
            {
                "decision:auth/sessions",
                "constraint:N",
                "message:N",
                "resource:src/auth/sessions.py",
                "change:N",
            },
        ),
        ({"kind": "decision"}, {"decision:auth/sessions"}),
        ({"tag": "Auth"}, {"decision:auth/sessions"}),
        ({"layer": "business"}, {"decision:auth/sessions", "constraint:N"}),
        ({"by": "Ben"}, {"message:N"}),
        ({"by": "nobody"}, set()),
        ({"since": "2999-01-01"}, set()),
        ({"match": "all"}, {"decision:auth/sessions", "message:N", "change:N"}),
    ],
)
def test_filters_narrow_a_search(
    params: dict[str, str], expected: set[str], lore: None, apollo: Project
) -> None:
    assert set(find_refs(member(apollo), "session expire", **params)) == expected


def test_each_active_filter_has_a_link_that_removes_it(lore: None, apollo: Project) -> None:
    client = member(apollo)
    page = get_page(client, "session", kind="decision", layer="business", since="7d")
    active_filters = page.context["active_filters"]
    assert [chosen_filter.title for chosen_filter in active_filters] == [
        "kind: decision",
        "layer: business",
        "since: the last week",
    ]
    without_kind = client.get(active_filters[0].url)
    assert {card.kind for card in without_kind.context["cards"]} == {"decision", "constraint"}


# -- Facets ----------------------------------------------------------------------------------------


def facets(client: Client, q: str, **params: str) -> dict[str, tuple[int | None, bool]]:
    choices = dict(get_page(client, q, **params).context["facets"])["Kind"]
    return {choice.title: (choice.count, choice.is_chosen) for choice in choices}


def test_facets_count_the_hits_of_each_kind(lore: None, apollo: Project) -> None:
    assert facets(member(apollo), "sessions") == {
        "Everything": (5, True),
        "Decisions": (1, False),
        "Constraints": (1, False),
        "Messages": (1, False),
        "Files": (1, False),
        "File changes": (1, False),
    }


def test_a_chosen_kind_leaves_the_counts_of_the_others(lore: None, apollo: Project) -> None:
    counts = facets(member(apollo), "sessions", kind="message")
    assert counts["Messages"] == (1, True)
    assert counts["Everything"] == (5, False)


def test_each_facet_links_to_as_many_hits_as_it_counts(lore: None, apollo: Project) -> None:
    client = member(apollo)
    for choice in dict(get_page(client, "sessions").context["facets"])["Kind"]:
        assert len(client.get(choice.url).context["cards"]) == choice.count


def walked(client: Client, q: str, **params: str) -> list[str]:
    """The refs of all hits, by the links to more."""
    page = get_page(client, q, **params)
    for _ in range(20):
        if not page.context["more_url"]:
            break
        page = client.get(page.context["more_url"])
    return [card.ref for card in page.context["cards"]]


@pytest.mark.every_engine
@pytest.mark.parametrize("decisions", [3, 60])
def test_the_counts_of_a_page_are_those_of_the_hits_that_can_be_paged_to(
    ada: Caller, apollo: Project, decisions: int
) -> None:
    """Also of things that have the word now and had it before, and of turns beside a message that has it.

    Only the best hits lend to turns: where others are better, those of messages are found among messages.
    """
    for n in range(decisions):
        set_decision(caller=ada, key=f"k{n}", value=f"The pelican of the {n} seas")
        set_decision(caller=ada, key=f"k{n}", value=f"A pelican and {n} gulls")
    question = send_message(caller=ada, text="Which pelican is it?")
    for text in ("The grey one.", "Or the white one?"):
        send_message(caller=ada, text=text, reply_to=question["id"])
    client = member(apollo)
    for kind in ("", "decision", "message"):
        params = {"kind": kind} if kind else {}
        context = get_page(client, "pelican", **params).context
        everything, *kinds = dict(context["facets"])["Kind"]
        assert everything.count == sum(choice.count for choice in kinds)
        [chosen] = [choice.count for choice in (everything, *kinds) if choice.is_chosen]
        refs = walked(client, "pelican", **params)
        assert len(refs) == len(set(refs)) == chosen == context["total"] == context["found"].total["total"]
    assert facets(client, "pelican", kind="message")["Messages"] == (3, True)
    assert facets(client, "pelican")["Messages"] == (3 if decisions == 3 else 1, False)


def test_a_page_says_when_only_the_best_are_shown(ada: Caller, apollo: Project) -> None:
    for start in range(0, 250, 50):
        items = [{"key": f"k{n}", "value": "pelican"} for n in range(start, start + 50)]
        set_decision_batch(caller=ada, items=items)
    client = member(apollo)
    text = page_text(client, "pelican", page="10")
    assert "<strong>250</strong> results" in text
    assert "These are the best 200." in text
    assert "These are the best" not in page_text(client, "pelican", page="9")


# -- Explanations ----------------------------------------------------------------------------------


def test_the_weights_of_the_words_add_up_to_the_score(lore: None, apollo: Project) -> None:
    for card in find_cards(member(apollo), "why do sessions expire so early on a laptop"):
        explanation = card.explanation
        assert sum(term.adds for term in explanation.terms) == pytest.approx(explanation.adds)
        assert card.percent == round(min((explanation.adds + explanation.lent) * explanation.prior, 100))


def test_the_explanation_lists_missing_words_and_how_rare_each_word_is(lore: None, apollo: Project) -> None:
    [card] = find_cards(member(apollo), "laptop sessions zyzzyva", kind="decision", match="any")
    terms = card.explanation.terms
    assert [(term.word, term.times, term.passages) for term in terms] == [
        ("laptop", 1, 1),
        ("sessions", 2, 5),
    ]
    assert [(term.word, term.passages) for term in card.explanation.missing] == [("zyzzyva", 0)]
    assert terms[0].weight > terms[1].weight
    page = page_text(member(apollo, username="wim"), "laptop zyzzyva", match="any")
    assert "only here" in page
    assert "nowhere" in page


def test_a_mistyped_word_is_corrected_and_the_page_says_so(lore: None, apollo: Project) -> None:
    client = member(apollo)
    page = get_page(client, "labtop")
    [card] = page.context["cards"]
    assert [(term.word, term.is_corrected) for term in card.explanation.terms] == [("laptop", True)]
    assert page.context["suggestion"] == "laptop"
    exact = client.get(page.context["exact_url"])
    assert not exact.context["cards"]
    assert [chosen_filter.title for chosen_filter in exact.context["active_filters"]] == [
        "match: only as typed"
    ]


def test_the_page_says_when_semantic_search_is_on(lore: None, apollo: Project) -> None:
    client, notice = member(apollo), "With similarity of meaning"
    assert notice not in page_text(client, "why do sessions expire on a laptop")
    with override_settings(SEMANTIC_SEARCH=True):
        assert notice in page_text(client, "why do sessions expire on a laptop")


def test_a_suggested_query_is_a_link(lore: None, apollo: Project) -> None:
    client = member(apollo)
    page = get_page(client, "labtop", match="all")
    assert not page.context["cards"]
    assert "Did you mean" in page.content.decode()
    assert len(client.get(page.context["suggestion_url"]).context["cards"]) == 1


# -- Paging ----------------------------------------------------------------------------------------


def test_the_more_link_shows_further_hits(ada: Caller, apollo: Project) -> None:
    for number in range(25):
        set_decision(caller=ada, key=f"cache/{number}", value="Redis")
    client = member(apollo)
    first = get_page(client, "redis")
    assert len(first.context["cards"]) == 20
    more = client.get(first.context["more_url"])
    assert len(more.context["cards"]) == 25
    assert not more.context["more_url"]


@pytest.mark.parametrize("page", ["x", "0", "-1", "9" * 30, "²"])
def test_an_invalid_page_number_shows_a_valid_page(page: str, lore: None, apollo: Project) -> None:
    assert find_cards(member(apollo), "sessions", page=page)


def test_a_search_without_hits_suggests_what_to_try(lore: None, apollo: Project) -> None:
    page = page_text(member(apollo), "zyzzyva")
    assert "Nothing found for “zyzzyva”" in page
    assert "match=fuzzy" in page


@pytest.mark.parametrize(
    "q", ["*", "-", '"', "!?", "c++", "-sessions", 'foo AND "bar', "'; DROP TABLE x; --", "🚀"]
)
def test_any_input_is_answered_without_an_error(q: str, lore: None, apollo: Project) -> None:
    assert "problem" not in get_page(member(apollo), q).context


@pytest.mark.parametrize("q", ["*", "-", '"', "-sessions"])
def test_a_query_without_words_finds_nothing(q: str, lore: None, apollo: Project) -> None:
    page = get_page(member(apollo), q)
    assert (page.context["cards"], dict(page.context["facets"])["Kind"]) == ([], [])


# -- Invalid input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kind": "poem"}, "kinds: &#x27;poem&#x27; is not known; use one of: decision, constraint"),
        ({"layer": "cellar"}, "layer: &#x27;cellar&#x27; is not known"),
        ({"since": "soon"}, "since: &#x27;soon&#x27; is not a time."),
        ({"match": "maybe"}, "match: &#x27;maybe&#x27; is not known"),
        ({"tag": "x" * 101}, "tags[0] has 101 characters"),
        ({"q": "a\0b"}, "query holds a NUL character."),
        ({"q": "x" * 70_000}, "query has 70,000 bytes; the limit is 65,536."),
    ],
)
def test_invalid_input_shows_an_error_on_the_page(
    params: dict[str, str], message: str, lore: None, apollo: Project
) -> None:
    assert message in page_text(member(apollo), **{"q": "sessions", **params})


def test_a_page_without_a_query_shows_the_search_syntax(apollo: Project) -> None:
    page = member(apollo).get(SEARCH).content.decode()
    assert "Exactly this phrase." in page
    assert "autofocus" in page


# -- Hostile texts ---------------------------------------------------------------------------------

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
# A name that begins with a quote is a piece of a list.
NAMED = EVIL.removeprefix('">')


def test_hostile_texts_are_shown_as_texts(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key=f"evil/{EVIL}", value=f"session {EVIL}", tags=[NAMED])
    worker = Caller(project=apollo, agent="<i>eve</i>")
    send_message(caller=worker, to=["ada"], text=f"session {EVIL} session")
    record_change(caller=worker, path="src/<b>session</b>.py", change="created", description=EVIL)
    client = member(apollo)
    for q in ("session", "alert script", EVIL, f'"{EVIL}"', "onerr*"):
        for params in ({}, {"tag": NAMED}, {"by": "<i>eve</i>"}, {"layer": EVIL}, {"match": "similar"}):
            page = page_text(client, q, **params)
            assert not re.search(r"<script>alert|<img src=x|<i>eve|<b>(<mark>)?session", page)


def test_marks_are_placed_in_escaped_text(ada: Caller, apollo: Project) -> None:
    set_decision(caller=ada, key="tags", value="a <script> tag & an &amp; entity")
    page = page_text(member(apollo), "script amp")
    assert "a &lt;<mark>script</mark>&gt; tag &amp; an &amp;<mark>amp</mark>; entity" in page


# -- Permissions -----------------------------------------------------------------------------------


def test_a_member_of_another_project_finds_nothing_and_gets_no_suggestions(
    lore: None, cy: Caller, hermes: Project
) -> None:
    set_decision(caller=cy, key="own", value="What is ours.")
    stranger = member(hermes, MEMBER, "cleo")
    for q in ("sessions", "sesions", "labtop", "ours"):
        for params in ({}, {"project": "apollo"}, {"by": "ada"}, {"match": "fuzzy"}):
            page = page_text(stranger, q, **params)
            assert "auth/" not in page
            assert "laptop" not in page
    assert find_refs(stranger, "ours", project="apollo") == ["decision:own"]


def test_a_viewer_may_search(lore: None, apollo: Project) -> None:
    assert find_refs(member(apollo, VIEWER), "laptop") == ["decision:auth/sessions"]


def test_a_superuser_chooses_a_project_and_keeps_the_query(
    lore: None, apollo: Project, hermes: Project
) -> None:
    client = superuser()
    page = get_page(client, "laptop")
    assert "In which project?" in page.content.decode()
    choices = {choice.title: choice.url for choice in page.context["projects"]}
    assert [card.ref for card in client.get(choices["apollo"]).context["cards"]] == ["decision:auth/sessions"]
    assert not client.get(choices["hermes"]).context["cards"]


def test_nobody_searches_without_signing_in(lore: None, apollo: Project) -> None:
    assert Client().get(f"{SEARCH}?q=sessions")["Location"].startswith("/admin/login/")


def test_a_person_without_a_project_has_nothing_to_search(apollo: Project) -> None:
    client = signed_in(User.objects.create_user("ned", is_staff=True))
    assert "You are not a member of any project yet" in client.get(SEARCH).content.decode()
    assert "data-find" not in client.get("/admin/password_change/").content.decode()


# -- The box on every page -------------------------------------------------------------------------


def box_of(client: Client, address: str) -> str:
    """The search forms of a page."""
    page = client.get(address).content.decode()
    return "".join(re.findall(rf'<form class="ctx-\w+" action="{SEARCH}".*?</form>', page, re.DOTALL))


@pytest.mark.parametrize(
    "address", ["", "core/event/", "memory/decision/add/", "views/layer_summary/", "search/"]
)
def test_every_page_has_one_box(address: str, lore: None, apollo: Project) -> None:
    assert box_of(member(apollo), f"/admin/{address}").count("data-find") == 1


def test_the_box_searches_the_project_of_the_page(lore: None, apollo: Project, hermes: Project) -> None:
    client = superuser()
    chosen = 'name="project" value="apollo"'
    assert chosen in box_of(client, "/admin/core/event/?project=apollo")
    assert chosen in box_of(client, "/admin/?project=apollo")
    [card] = find_cards(client, "laptop", project="apollo")
    assert card.url is not None
    assert chosen in box_of(client, card.url)
    assert chosen in box_of(client, f"{card.url}change/")
    assert chosen not in box_of(client, "/admin/core/event/")


def test_a_popup_has_no_box(lore: None, apollo: Project) -> None:
    assert not box_of(member(apollo), "/admin/core/agent/?_popup=1")


def test_the_box_of_the_search_page_keeps_the_filters(lore: None, apollo: Project) -> None:
    form = box_of(member(apollo), f"{SEARCH}?q=x&kind=decision&layer=data")
    assert 'name="kind" value="decision"' in form
    assert 'name="layer" value="data"' in form


# -- Queries ---------------------------------------------------------------------------------------


def count_queries(client: Client, q: str, **params: str) -> int:
    get_page(client, q, **params)
    with CaptureQueriesContext(connection) as queries:
        get_page(client, q, **params)
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_hits(lore: None, ada: Caller, apollo: Project) -> None:
    client = member(apollo)
    few = count_queries(client, "sessions expire", since="7d", layer="business", by="ada")
    for number in range(30):
        worker = Caller(project=apollo, agent=f"worker-{number}")
        set_decision(
            caller=worker, key=f"sessions/{number}", value="expire", tags=[f"t{number}"], scopes=["s"]
        )
        send_message(caller=worker, to=["ada"], text="Sessions expire.")
        record_change(
            caller=worker, path=f"sessions/{number}.py", change="created", description="They expire."
        )
    assert count_queries(client, "sessions expire", since="7d", layer="business", by="ada") == few
    # Three queries find the person and their project, one what is stale; each of five kinds is read by one.
    assert count_queries(client, "sesions expire", page="10") <= 19


@pytest.mark.parametrize(
    ("percent", "words"), [(100, "strong match"), (74, "good match"), (25, "fair match"), (0, "weak match")]
)
def test_a_score_is_told_in_words(
    percent: int, words: str, client: Client, lore: None, apollo: Project
) -> None:
    [card, *_] = find_cards(member(apollo, VIEWER), "auth/sessions")
    assert replace(card, percent=percent).match == words
    assert f"{card.match} <span" in page_text(member(apollo, VIEWER, "vo"), "auth/sessions")


# -- The palette -----------------------------------------------------------------------------------


def palette(client: Client, **params: str) -> str:
    return client.get(f"/admin/palette/?{urlencode(params)}").content.decode()


def test_the_palette_finds_in_all_projects_of_the_person_and_in_no_other(
    lore: None, apollo: Project, hermes: Project, cy: Caller
) -> None:
    set_decision(caller=cy, key="hermes/sessions", value="Sessions of hermes")
    own = "auth/sessions"
    viewer = person("vi", apollo, VIEWER)
    text = strip_tags(palette(signed_in(viewer), q="sessions"))
    assert own in text
    assert "hermes" not in strip_tags(palette(signed_in(viewer), q="sessions", project="hermes"))
    Membership.objects.create(project=hermes, user=viewer, role=VIEWER)
    text = strip_tags(palette(signed_in(viewer), q="sessions"))
    assert own in text
    assert "hermes/sessions" in text
    assert own not in strip_tags(palette(signed_in(viewer), q="sessions", project="hermes"))
    assert palette(signed_in(viewer)).strip() == ""
    assert palette(Client(), q="sessions") == ""
