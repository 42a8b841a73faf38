"""What must happen whoever writes."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.backends.signals import connection_created
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model
from django.db.models.signals import post_delete, post_migrate, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import registry
from ctxhub.core.accounts.services.access_tokens import forget_tokens
from ctxhub.core.events.services.events import recorded
from ctxhub.core.events.services.retention import cleanup_sometimes
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.models import AccessToken, Agent, Category, Layer, Project, Scope, Tag
from ctxhub.core.registry import Noun, indexed_nouns, searched_nouns
from ctxhub.core.search.services.index import forget, index_again
from ctxhub.core.search.services.reindexing import index_missing, mend_parts
from ctxhub.core.vocabulary.services.changes import record_new_name


@receiver([post_save, post_delete], sender=AccessToken)
def forget_verified_tokens(**_: Any) -> None:
    """A revoked token ends at once in this process, also one that is read again before the commit."""
    forget_tokens()
    transaction.on_commit(forget_tokens)


@receiver(recorded)
def clean_up(project_id: int, at: datetime, **_: Any) -> None:
    """What has outlived the project's settings goes with the next write, at most once a minute."""
    cleanup_sometimes(project_id, at)


# -- The index -------------------------------------------------------------------------------------


@receiver(registry.registered)
def watch_rows(noun: Noun, **_: Any) -> None:
    """Of searched nouns alone: Django deletes in one statement where nobody watches.

    Earlier states go with their things, and are looked up before those go.
    """
    if parent := registry.find_noun(noun.earlier_states_of):
        pre_delete.connect(keep_states, sender=parent.model, dispatch_uid=f"keep {noun.kind}")
    elif noun.documents:
        post_delete.connect(forget_row, sender=noun.model, dispatch_uid=f"forget {noun.kind}")
    # Behind the index: the log of a transaction is written last.
    if noun.history:
        noun.history.watch()


def forget_row(sender: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    """Whoever deletes it by the ORM. What goes with its whole project needs nothing: the index goes too."""
    if getattr(origin, "model", type(origin)) is Project:
        return
    for noun in searched_nouns():
        if noun.model is sender:
            states = instance.__dict__.pop("_ctxhub_states", ())
            forget(instance.project_id, noun.kind, [instance.pk], states)


def keep_states(sender: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    """Which they are: they go before their thing does."""
    if getattr(origin, "model", type(origin)) is Project:
        return
    for noun in indexed_nouns():
        parent = registry.find_noun(noun.earlier_states_of)
        if parent and parent.model is sender and noun.states_of:
            instance._ctxhub_states = noun.states_of(instance.project_id, [instance.pk])


@receiver(post_save, sender=Tag)
@receiver(post_save, sender=Scope)
@receiver(post_save, sender=Category)
@receiver(post_save, sender=Agent)
def follow_the_name(
    instance: NamedRow,
    created: bool,
    raw: bool = False,
    update_fields: Iterable[str] | None = None,
    **_: Any,
) -> None:
    """What shows a word that is renamed is found by its new name."""
    if created or raw or (update_fields is not None and "name" not in update_fields):
        return
    with write_transaction(instance.project_id):
        for noun in searched_nouns():
            if noun.showing:
                index_again(instance.project_id, noun.kind, noun.showing(instance))


@receiver(pre_save, sender=Tag)
@receiver(pre_save, sender=Scope)
@receiver(pre_save, sender=Category)
@receiver(pre_save, sender=Layer)
def keep_the_name(
    instance: NamedRow, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    """Remember what a word was called, unless the writer has said it."""
    if raw or not instance.pk or instance.was or (update_fields is not None and "name" not in update_fields):
        return
    acquire_write_lock(instance.project_id)
    stored = type(instance).unscoped.filter(pk=instance.pk).values_list("name", flat=True)
    instance.was = stored.first() or ""


@receiver(post_save, sender=Tag)
@receiver(post_save, sender=Scope)
@receiver(post_save, sender=Category)
@receiver(post_save, sender=Layer)
def record_the_new_name(instance: NamedRow, **_: Any) -> None:
    was, instance.was = instance.was, ""
    if was not in ("", instance.name):
        with write_transaction(instance.project_id):
            record_new_name(instance, was)


@receiver(post_migrate)
def index_what_was_there_before(sender: AppConfig, using: str, plan: Any = None, **_: Any) -> None:
    """An upgrade leaves nothing to do by hand. A flush, which has no plan, leaves nothing to index."""
    if sender.label == "core" and using == DEFAULT_DB_ALIAS and plan is not None and _is_migrated():
        mend_parts(thoroughly=False)
        index_missing()


def _is_migrated() -> bool:
    """Whoever goes back, or on with one app alone, has tables that are not as the models say."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


# -- Connections -----------------------------------------------------------------------------------


@receiver(connection_created)
def run_what_is_short_as_it_is(connection: Any, **_: Any) -> None:
    """PostgreSQL compiles what it expects to be long, which took 150 ms for queries of 2."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")
