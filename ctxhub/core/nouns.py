"""Registers the nouns of core: agents, tags, scopes, layers, categories."""

from ctxhub.core.events.selectors.stats import counting_rows
from ctxhub.core.models import Agent, Category, Layer, Scope, Tag
from ctxhub.core.registry import Noun, counter_of, register

register(Noun("category", "categories", Category))
for _kind, _model in (("agent", Agent), ("tag", Tag), ("scope", Scope), ("layer", Layer)):
    register(
        Noun(
            _kind,
            f"{_kind}s",
            _model,
            count=counter_of(_kind),
            counting=counting_rows(_model._meta.db_table),
        )
    )
