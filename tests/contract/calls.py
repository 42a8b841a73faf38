"""What tests of all nouns call and compare."""

from typing import Any

from ctxhub.core.models import Project
from ctxhub.toolbox.actions import Action, all_tools
from tests.contract.faces import Face
from tests.contract.nouns import Contract, Json
from tests.tables import dump_project


def action_of(noun: Contract, name: str) -> Action:
    return all_tools()[noun.tool].actions[name]


def made(face: Face, noun: Contract, fields: Json, needed: Json) -> Any:
    """The name of a new object."""
    answer = face.create(noun, {**needed, **fields})
    assert "error" not in answer, answer
    return answer[noun.made]


def stored(project: Project) -> Json:
    """All rows but when tokens were last used."""
    return {table: rows for table, rows in dump_project(project).items() if table != "core_accesstoken"}


def names(face: Face, noun: Contract, **query: Any) -> list[Any]:
    answer = face.list(noun, **query)
    assert "error" not in answer, answer
    return [item[noun.name] for item in answer["items"]]


def parent(noun: Contract, needed: Json) -> Json:
    """What its list needs of what it needs."""
    return {
        name: value for name, value in needed.items() if name in action_of(noun, noun.list).arguments.names
    }


def several(noun: Contract, count: int) -> list[Json]:
    """The other one several times, under different names."""
    told_apart = next(
        name
        for name in ("key", "name", "title", "text", "path", "paths", "content", "summary")
        if name in noun.other
    )
    value = noun.other[told_apart]
    return [
        {**noun.other, told_apart: [f"{value[0]}/{n}"] if isinstance(value, list) else f"{value}{n}"}
        for n in range(count)
    ]


def always_given(noun: Contract, item: Json) -> Json:
    """The required arguments of a change, as they are."""
    arguments = action_of(noun, noun.change).arguments.all
    return {a.name: item[a.name] for a in arguments if a.required and a.name != noun.argument}
