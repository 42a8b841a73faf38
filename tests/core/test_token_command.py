"""`manage.py token`: creates, lists, rotates and revokes tokens; shows a secret only once."""

import re
import shlex
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from ctxhub.core.kit import clock
from ctxhub.core.models import AccessToken, Membership, Project
from tests.hub import LiveHub


def token(*arguments: str) -> str:
    out = StringIO()
    call_command("token", *arguments, stdout=out)
    return out.getvalue().strip()


def newest(project: Project) -> AccessToken:
    return AccessToken.objects.in_project(project).order_by("-pk")[0]


def test_a_plain_token_works_until_it_is_revoked(hub: LiveHub, apollo: Project) -> None:
    secret = token("create", "--project", "apollo", "--agent", "ada", "--plain")
    assert hub.mcp(secret).call("hub", "stats")["agents"] == 1
    token("revoke", str(newest(apollo).pk))
    assert hub.mcp(secret).send("POST", "/mcp", {}).status == 401


def test_create_prints_a_line_that_connects_a_client(apollo: Project) -> None:
    output = token("create", "--project", "apollo", "--agent", "ada")
    secret = output.splitlines()[0]
    assert f'--header "Authorization: Bearer {secret}"' in output
    assert "Ctxhub-Agent" not in output, "a pinned token needs no name beside it"


def test_a_token_without_an_agent_prints_the_agents_of_clients(apollo: Project) -> None:
    output = token("create", "--project", "apollo")
    assert "Ctxhub-Agent: claude" in output
    assert "/mcp?client=codex" in output


@pytest.mark.parametrize("agent", ["ada", "Ada Lovelace"])
def test_create_prints_the_variables_of_hooks(apollo: Project, agent: str) -> None:
    secret, *_, line = token("create", "--project", "apollo", "--agent", agent).splitlines()
    assert shlex.split(line) == [
        *("export", "CTXHUB_URL=http://127.0.0.1:8000", f"CTXHUB_TOKEN={secret}", f"CTXHUB_AGENT={agent}"),
    ]
    assert token("create", "--project", "apollo").endswith(" CTXHUB_AGENT=")


def test_scopes_name_and_expiry_are_stored(apollo: Project) -> None:
    token("create", "--project", "apollo", "--scopes", "read", "--expires", "30d", "--name", "CI")
    created = newest(apollo)
    assert (created.name, created.scopes) == ("CI", ["read"])
    assert created.expires_at
    assert timedelta(days=29, hours=23) < created.expires_at - clock.now() <= timedelta(days=30)


def test_a_token_may_expire_on_a_date(apollo: Project) -> None:
    token("create", "--project", "apollo", "--expires", "2999-12-31")
    assert newest(apollo).expires_at == clock.parse_moment("2999-12-31")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "--project", "nowhere"), "There is no project 'nowhere'. Projects: apollo."),
        (("create", "--project", "apollo", "--scopes", "rite"), "use one of: read, write, admin"),
        (("create", "--project", "apollo", "--expires", "soon"), "--expires: 'soon' is not a time"),
        (("create", "--project", "apollo", "--expires", "2020-01-01"), "lies in the past"),
        (("create", "--project", "apollo", "--expires", "999999w"), "too far ahead"),
        (("create", "--project", "apollo", "--expires", "e5"), "no time"),
        (("create", "--project", "apollo", "--expires", ""), "argument --expires: is blank"),
        (("create", "--project", "apollo", "--agent", " "), "argument --agent: is blank"),
        (("create", "--project", "apollo", "--scopes", ""), "argument --scopes: is blank"),
        (("rotate", "1", "--agent", ""), "argument --agent: is blank"),
        (("rotate", "1", "--grace", ""), "argument --grace: is blank"),
        (("revoke", "4711"), "There is no token '4711' here"),
        (("revoke", "ctx"), "too short"),
        (("list", "--project", "nowhere"), "There is no project 'nowhere'"),
    ],
)
def test_invalid_arguments_are_refused_with_a_sentence(
    apollo: Project, arguments: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CommandError, match=re.escape(sentence)):
        token(*arguments)


def test_a_list_describes_tokens_without_their_secrets(apollo: Project, hermes: Project) -> None:
    secret = token("create", "--project", "apollo", "--agent", "ada", "--plain")
    token("create", "--project", "hermes")
    assert token("list", "--project", "apollo") == (
        f"{newest(apollo).pk}  {secret[:10]}…  ada: "
        "project apollo, read+write, speaks for ada only, never used"
    )
    assert secret not in token("list")
    assert len(token("list").splitlines()) == 2


def test_an_empty_list_says_what_to_do(db: None) -> None:
    assert token("list") == "No tokens yet: manage.py token create --project P"


@pytest.mark.parametrize("characters", [8, 10, 44])
def test_a_token_is_revoked_by_its_first_characters(apollo: Project, characters: int) -> None:
    secret = token("create", "--project", "apollo", "--plain")
    assert "is revoked" in token("revoke", secret[:characters])
    assert newest(apollo).revoked_at


def test_an_ambiguous_prefix_revokes_no_token(apollo: Project) -> None:
    for _ in range(2):
        token("create", "--project", "apollo")
    AccessToken.objects.in_project(apollo).update(start="ctx_twins1")
    with pytest.raises(CommandError, match="begins several"):
        token("revoke", "ctx_twins1")
    assert not AccessToken.objects.in_project(apollo).exclude(revoked_at=None).exists()


def test_revoking_a_revoked_token_says_so(apollo: Project) -> None:
    token("create", "--project", "apollo")
    token("revoke", str(newest(apollo).pk))
    assert "was revoked already" in token("revoke", str(newest(apollo).pk))


def test_another_projects_token_is_not_found(apollo: Project, hermes: Project) -> None:
    token("create", "--project", "hermes")
    with pytest.raises(CommandError, match="There is no token"):
        token("revoke", str(newest(hermes).pk), "--project", "apollo")


# -- Rotation --------------------------------------------------------------------------------------


def test_a_rotated_token_and_the_old_one_are_good_for_a_day(hub: LiveHub, apollo: Project) -> None:
    old = token("create", "--project", "apollo", "--agent", "zoe", "--plain")
    row = newest(apollo)
    output = token("rotate", str(row.pk))
    new = output.splitlines()[0]
    row.refresh_from_db()
    assert row.expires_at
    assert timedelta(hours=23) < row.expires_at - clock.now() <= timedelta(hours=24)
    assert f"The old token {row.pk} is good until {clock.format_time(row.expires_at)}." in output
    assert f'--header "Authorization: Bearer {new}"' in output
    assert f"rotated to {newest(apollo).pk}" in token("list")
    for secret in (old, new):
        assert hub.mcp(secret).call("hub", "stats")["agents"] == 1


def test_without_grace_the_old_one_ends(hub: LiveHub, apollo: Project) -> None:
    old = token("create", "--project", "apollo", "--plain")
    new = token("rotate", old, "--grace", "0", "--plain")
    assert new.startswith("ctx_")
    assert hub.mcp(old).send("POST", "/mcp", {}).status == 401
    assert hub.mcp(new).call("hub", "stats")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("999999",), "There is no token"),
        (("{}", "--grace", "soon"), "--grace: 'soon' is not a length of time"),
        (("{}", "--grace", "31d"), "grace: from 0 to 30 days"),
        (("{}", "--agent", "x" * 101), "the limit is 100"),
        (("{}", "--project", "hermes"), "There is no token"),
    ],
)
def test_a_rotation_that_is_none_is_refused(
    arguments: tuple[str, ...], sentence: str, apollo: Project, hermes: Project
) -> None:
    token("create", "--project", "apollo")
    row = newest(apollo)
    with pytest.raises(CommandError, match=re.escape(sentence)):
        token("rotate", *(argument.format(row.pk) for argument in arguments))
    assert AccessToken.unscoped.count() == 1


def test_the_name_of_a_person_is_rotated_to_another(apollo: Project) -> None:
    token("create", "--project", "apollo", "--agent", "grace")
    row = newest(apollo)
    Membership.objects.bulk_create([Membership(project=apollo, user=User.objects.create_user("grace"))])
    with pytest.raises(CommandError, match="'grace-agent'"):
        token("rotate", str(row.pk))
    token("rotate", str(row.pk), "--agent", "grace-agent")
    assert str(newest(apollo).agent) == "grace-agent"
    with pytest.raises(CommandError, match="'Grace-agent-2'"):
        token("create", "--project", "apollo", "--agent", "Grace")
