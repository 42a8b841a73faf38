"""A table of constraints for the tests of the mapper; its links repeat the rank and the time."""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Derived, Row, Table
from ctxhub.core.models import Category, Project, Scope, Tag
from memory.constraints.models import digest_of, rank_of
from memory.models import Constraint

NOON = datetime.fromisoformat("2026-03-02T12:00:00+00:00")


@frozen(kw_only=True)
class Rule(Row):
    category: str
    category_id: int
    text: str = ""
    priority: int = 2
    status: int = 1
    layer: str | None = None
    layer_id: int | None = None
    tags: Sequence[str] = field(default_factory=list)
    scopes: Sequence[str] = field(default_factory=list)
    paths: Sequence[str] = field(default_factory=list)
    reason: str = ""


RULES = Table(
    Constraint,
    Rule,
    derived={
        "digest": Derived(of=["text"], value=lambda row: digest_of(row.text)),
        "rank": Derived(of=["priority", "category"], value=lambda row: rank_of(row.priority, row.category)),
    },
)


class Known:
    """Returns the id of a tag or scope, which is created if it does not exist."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def word_id(self, field: str, name: str) -> int:
        model: Any = {"tags": Tag, "scopes": Scope}[field]
        words = model.objects.in_project(self.project)
        word = words.filter(folded=name.casefold()).first()
        return int((word or model.objects.create(project=self.project, name=name)).pk)


def new_rule(project: Project, text: str = "A", *, category: str = "security", **values: Any) -> Rule:
    """A rule that is not stored yet. `minutes`: the time of its creation after noon."""
    at = NOON + timedelta(minutes=values.pop("minutes", 0))
    category_id = Category.objects.in_project(project).get(folded=category).pk
    times = {"created_at": at, "updated_at": at}
    return Rule(category=category, category_id=category_id, text=text, **{**times, **values})


def store(project: Project, *rules: Rule) -> list[Rule]:
    return RULES.insert(project.pk, rules, Known(project))


def stored_rule(project: Project, text: str = "A", **values: Any) -> Rule:
    [row] = store(project, new_rule(project, text, **values))
    return row


def read_rule(project: Project, row_id: int) -> Rule:
    return RULES.read(project.pk, [row_id])[row_id]


def links_of(row: Rule, words: str = "tag") -> list[tuple[str, str, datetime]]:
    """The tags or scopes of a rule, with the values that their links repeat."""
    links: Any = getattr(Constraint.unscoped.get(pk=row.id), f"{words}_links")
    return list(links.order_by(f"{words}__folded").values_list(f"{words}__name", "rank", "created_at"))
