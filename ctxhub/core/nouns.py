"""Registers the nouns of core: agents, tags, scopes, layers, categories."""

from ctxhub.core.bin.declaration import Joined, joined
from ctxhub.core.events.counters import counting_rows
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.models import AccessToken, Agent, Category, Layer, PathPattern, Scope, Tag, Webhook
from ctxhub.core.registry import Noun, counter_of, register

register(Noun("category", "categories", Category))
register(Noun("webhook", "webhooks", Webhook, wakes=False))
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
for _named in (Agent, Tag, Scope, Layer, Category):
    hold_names(_named, found_by="folded")
hold_names(AccessToken)
hold_names(PathPattern, "pattern", kind_field="kind", id_field="object_id")
joined.append(Joined(PathPattern, (("kind", "object_id"),)))
