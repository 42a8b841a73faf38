"""The nouns of core itself."""

from collections.abc import Callable

from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.models.base import NamedRow
from ctxhub.core.nouns import Noun, register
from ctxhub.core.selectors.figures import Figures


def _counter(model: type[NamedRow]) -> Callable[[Figures], int]:
    return lambda figures: model.objects.in_project(figures.project_id).count()


register(Noun("category", "categories", Category))
for _kind, _model in (("agent", Agent), ("tag", Tag), ("scope", Scope), ("layer", Layer)):
    register(Noun(_kind, f"{_kind}s", _model, count=_counter(_model)))
