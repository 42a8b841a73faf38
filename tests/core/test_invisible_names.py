"""Names with characters that nobody sees: none is stored, and those of before are found by that very name."""

from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Concat
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import authenticate, create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput
from ctxhub.core.kit.known_names import find_invisible_names
from ctxhub.core.models import Agent, PathPattern, Project, Tag
from ctxhub.management.commands import setup
from ctxhub.toolbox.actions import Action, all_tools
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from memory.models import Context, Decision, DecisionTemplate, Memory, Workflow
from tests.stored_names import invisible_names
from tests.tables import dump_all
from tracking.models import Resource

ACTIONS = [action for tool in all_tools().values() for action in tool.actions.values() if action.name]
AT_THE_END, INSIDE, AT_THE_BEGINNING, TURNED = "zw/key\u200b", "zw\u200b/key", "\ufeffzw/key", "zw\u202e/key"
KEY = "zw\u200b/key"


# -- What is sent ----------------------------------------------------------------------------------


def texts_of(action: Action) -> list[tuple[str, bool]]:
    """The names of the arguments that take a text, and whether a list of them."""
    found = []
    for argument in action.arguments.all:
        schema = argument.schema
        types = schema.get("type", "string")
        if types == "array" and schema.get("items", {}).get("type", "string") == "string":
            found.append((argument.name, True))
        elif "string" in types and "enum" not in schema:
            found.append((argument.name, False))
    return found


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.call)
def test_no_argument_of_any_operation_stores_them(action: Action, ada: Caller) -> None:
    """Each text of each operation in turn, in calls as help shows them."""
    for name, is_list in [*texts_of(action), ("agent", False), ("session", False)]:
        for text in (AT_THE_END, INSIDE, AT_THE_BEGINNING, TURNED):
            arguments = {**action.example, name: [text] if is_list else text}
            with suppress(CtxhubError):
                call(ada, action.tool, {"action": action.name, **arguments})
    assert invisible_names() == []


def test_a_name_inside_which_they_stand_is_refused_everywhere(ada: Caller) -> None:
    for tool, arguments in (
        ("decision", {"action": "set", "key": KEY, "value": "x"}),
        ("decision", {"action": "get", "key": KEY}),
        ("decision", {"action": "set", "key": "a", "value": "x", "tags": ["au\u200bth"]}),
        ("decision", {"action": "set", "key": "a", "value": "x", "agent": "be\u200bn"}),
        ("check", {"paths": ["src/a\u200b.py"]}),
        ("file", {"action": "lease", "paths": ["src/a\u200b.py"]}),
        ("message", {"action": "send", "text": "x", "to": ["be\u200bn"]}),
    ):
        before = dump_all()
        with pytest.raises(InvalidInput, match=r"holds U\+200B ZERO WIDTH SPACE at character \d+"):
            call(ada, tool, arguments)
        assert dump_all() == before


def test_at_its_end_they_are_left_out_everywhere(ada: Caller, ben: Caller) -> None:
    call(ben, "file", {"action": "lease", "paths": ["src/a.py"]})
    assert not call(ada, "check", {"paths": ["src/a.py\u200b"]})["clear"]
    assert not call(ada, "check", {"paths": ["\ufeffsrc/a.py"]})["clear"]
    call(ada, "decision", {"action": "set", "key": "zw/key\u200b", "value": "x"})
    for key in ("zw/key", "zw/key\u200b", "\ufeffzw/key", "zw/key\n"):
        assert call(ada, "decision", {"action": "get", "key": key})["decision"]["key"] == "zw/key"
    call(ada, "message", {"action": "send", "text": "I am ben.", "agent": "ben\u200b", "to": ["ada"]})
    assert set(Agent.objects.in_project(ada.project).values_list("name", flat=True)) == {"ada", "ben"}


def test_a_title_loses_them(ada: Caller) -> None:
    call(ada, "memory", {"action": "add", "title": "Why\u200b we\ncache", "content": "It is\u200b slow."})
    memory = Memory.objects.in_project(ada.project).get()
    assert (memory.title, memory.content) == ("Why we cache", "It is\u200b slow.")


def test_texts_keep_them(ada: Caller) -> None:
    value = "before\u2028after\u2029\u0085\u202eend\u200b"
    call(ada, "decision", {"action": "set", "key": "ls/1", "value": value})
    assert call(ada, "decision", {"action": "get", "key": "ls/1"})["decision"]["value"] == value


# -- What was stored before ------------------------------------------------------------------------


@pytest.fixture
def old(ada: Caller) -> Project:
    """Names from before they were cleaned: a key, a tag, an agent, a context, a template and a file."""
    set_decision(caller=ada, key="old", value="x", tags=["old"], paths=["src/old.py"])
    set_decision(caller=ada, key="zw/key", value="another")
    project = ada.project
    Decision.objects.in_project(project).filter(key="old").update(key=KEY)
    Tag.objects.in_project(project).filter(name="old").update(
        name="t\u200bag\u200b", folded="t\u200bag\u200b"
    )
    PathPattern.objects.in_project(project).filter(pattern="src/old.py").update(pattern="src/old.py\u200b")
    Agent.objects.create(project=project, name="ben\u200b")
    Context.objects.create(project=project, name="Sh\u00a0op\u2060")
    DecisionTemplate.objects.create(project=project, name="in\u00adcident")
    Resource.objects.create(project=project, path="src/a\u200b.py")
    Workflow.objects.create(project=project, name="Plan\u2028")
    return project


def test_a_stored_key_is_found_changed_and_deleted_by_that_very_name(ada: Caller, old: Project) -> None:
    found = call(ada, "decision", {"action": "get", "key": KEY})["decision"]
    assert (found["key"], found["value"]) == (KEY, "x")
    assert call(ada, "get", {"refs": [f"decision:{KEY}"]})["items"][0]["value"] == "x"
    call(ada, "decision", {"action": "set", "key": KEY, "value": "y"})
    call(ada, "decision", {"action": "deprecate", "key": KEY})
    assert call(ada, "decision", {"action": "versions", "key": KEY})["count"] == 3
    assert call(ada, "delete", {"refs": [f"decision:{KEY}"]})["rows"][0][1] == "deleted"
    assert call(ada, "decision", {"action": "get", "key": "zw/key"})["decision"]["value"] == "another"


def test_stored_words_are_found_by_that_very_name(ada: Caller, old: Project) -> None:
    listed = call(ada, "decision", {"action": "list", "tags": ["T\u200bag\u200b"]})
    assert listed["count"] == 1
    assert "hint" not in call(ada, "decision", {"action": "list", "by": "ben\u200b"})
    assert "error" not in call(ada, "memory", {"action": "context_get", "context": "sh\u00a0op\u2060"})
    call(ada, "decision", {"action": "template_set", "name": "IN\u00adcident", "require": ["rationale"]})
    assert DecisionTemplate.objects.in_project(old).get().require == ["rationale"]
    opened = call(ada, "get", {"refs": ["resource:src/a\u200b.py"]})
    assert len(opened["items"]) == 1


def test_a_name_of_another_project_is_not_known(cy: Caller, old: Project) -> None:
    with pytest.raises(InvalidInput, match="U\\+200B"):
        call(cy, "decision", {"action": "get", "key": KEY})


def test_nobody_speaks_under_such_a_name_but_a_token_that_is_pinned_to_it(old: Project) -> None:
    caller = Caller(project=old, agent="x")
    call(caller, "decision", {"action": "set", "key": "a", "value": "x", "agent": "ben\u200b"})
    assert Decision.objects.in_project(old).get(key="a").agent == Agent.objects.in_project(old).get(
        name="ben"
    )
    secret = create_token(project=old, agent="cleo").secret
    Agent.objects.in_project(old).filter(name="cleo").update(name="cleo\u200b", folded="cleo\u200b")
    pinned = authenticate(secret)
    call(pinned, "decision", {"action": "set", "key": "b", "value": "x", "agent": "cleo"})
    assert str(Decision.objects.in_project(old).get(key="b").agent) == "cleo\u200b"


def told(command: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, stdout=out, **options)
    return out.getvalue()


def test_a_command_lists_what_is_stored(ada: Caller, old: Project) -> None:
    key = Decision.objects.in_project(old).get(key=KEY)
    context = Context.objects.in_project(old).get()
    lines = told("invisible_names").splitlines()
    assert f"apollo: decision {key.pk}: zw⟦U+200B⟧/key" in lines
    assert f"apollo: decision {key.pk}: src/old.py⟦U+200B⟧" in lines, "a glob of it"
    assert f"apollo: context {context.pk}: Sh\u00a0op⟦U+2060⟧" in lines
    kinds = {line.split()[1] for line in lines[:-1]}
    assert kinds == {"agent", "tag", "decision", "template", "context", "workflow", "resource"}
    assert lines[-1].startswith("Each is still found by this very name, and by its id.")


def test_migrate_tells_and_changes_nothing(ada: Caller, old: Project) -> None:
    before = dump_all()
    output = told("migrate", verbosity=1, interactive=False, beside_others=True)
    assert "Attention: 8 stored names hold characters that nobody sees: apollo: agent" in output
    assert "; and 3 more. manage.py invisible_names lists them" in output
    assert dump_all() == before


def test_setup_tells(old: Project) -> None:
    out = StringIO()
    setup.Command(stdout=out).tell_names()
    assert out.getvalue().startswith(
        "Attention: 8 stored names hold characters that nobody sees: apollo: agent"
    )


@pytest.mark.parametrize("name", ["ben\u200b", "\ufeffben"])
def test_a_token_is_made_for_the_name_without_them(name: str, apollo: Project) -> None:
    call_command("token", "create", "--project", "apollo", "--agent", name, stdout=StringIO())
    assert Agent.objects.in_project(apollo).get().name == "ben"
    with pytest.raises(CommandError, match=r"agent holds U\+200B"):
        call_command("token", "create", "--project", "apollo", "--agent", "be\u200bn", stdout=StringIO())
    with pytest.raises(CommandError, match="slug"):
        call_command("setup", "--project", f"ap{name}", "--no-input", stdout=StringIO())


def test_nothing_is_told_where_there_is_nothing(ada: Caller) -> None:
    set_decision(caller=ada, key="日本語/👨‍👩‍👧", value="x")
    assert told("invisible_names") == "No stored name holds a character that nobody sees.\n"
    assert "Attention" not in told("migrate", verbosity=1, interactive=False, beside_others=True)


def test_they_are_looked_for_in_one_statement_for_each_column(ada: Caller, old: Project) -> None:
    with CaptureQueriesContext(connection) as few:
        assert list(find_invisible_names())
    for n in range(10):
        set_decision(caller=ada, key=f"ключ/{n}", value="x")
    Decision.objects.in_project(old).filter(key__startswith="ключ").update(key=Concat("key", Value("\u200b")))
    with CaptureQueriesContext(connection) as more:
        assert len(list(find_invisible_names())) == 18
    assert len(few) == len(more) == len({query["sql"] for query in more})
