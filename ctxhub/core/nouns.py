"""Registers the nouns of core, and what of core runs in every cleanup and is shown of each agent."""

from ctxhub.core.accounts.live_sessions import count_live_sessions, forget_sessions
from ctxhub.core.accounts.sign_in import remove_old_failures
from ctxhub.core.accounts.visits import remove_visitors
from ctxhub.core.bin.declaration import Joined, joined
from ctxhub.core.bin.emptying import remove_expired
from ctxhub.core.events.cleanup import cleanup_tasks
from ctxhub.core.events.counters import counting_rows
from ctxhub.core.hub.overview import register_agent_facts
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.models import AccessToken, Agent, Category, Layer, PathPattern, Scope, Tag, Webhook
from ctxhub.core.paths.counting import count_in_cleanup
from ctxhub.core.refusals.services import clean_refusals
from ctxhub.core.registry import Noun, counter_of, register
from ctxhub.core.search.stored_counts import clean_counts
from ctxhub.core.use.queries import use_lately
from ctxhub.core.use.services import clean_use
from ctxhub.core.webhooks.due import clean_deliveries

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

register_agent_facts(use_lately, "writes", "reads", "tokens")
register_agent_facts(count_live_sessions, "sessions")
cleanup_tasks += [
    clean_refusals,
    count_in_cleanup,
    lambda project_id, now, _: forget_sessions(project_id, now),
    lambda project_id, now, _: remove_visitors(project_id, now),
    clean_counts,
    clean_use,
    lambda _, now, __: remove_old_failures(now),
    lambda project_id, now, _: remove_expired(project_id, now),
    clean_deliveries,
]
