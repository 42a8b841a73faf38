"""Signal receivers: token cache, cleanup, search index, renamed vocabulary, database connections."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.apps import AppConfig
from django.contrib.auth import get_user_model
from django.db import DEFAULT_DB_ALIAS, connection, transaction
from django.db.backends.signals import connection_created
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Model
from django.db.models.signals import post_delete, post_migrate, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import registry
from ctxhub.core.accounts.access_tokens import forget_tokens
from ctxhub.core.accounts.names_of_people import forget_names
from ctxhub.core.accounts.people import check_new_member, rename_person
from ctxhub.core.events.cleanup import cleanup_sometimes
from ctxhub.core.events.log import recorded
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.read_limit import statement_timeout, watch_statements
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.models import AccessToken, Agent, Category, Layer, Membership, Project, Scope, Tag
from ctxhub.core.registry import Noun, indexed_nouns, searched_nouns
from ctxhub.core.search.index import forget, index_again
from ctxhub.core.search.reindexing import index_missing, mend_parts
from ctxhub.core.vocabulary.services import record_new_name


@receiver([post_save, post_delete], sender=AccessToken)
def forget_verified_tokens(**_: Any) -> None:
    """Clear the token cache at once, and again on commit: the old row may be cached in between."""
    forget_tokens()
    transaction.on_commit(forget_tokens)


# The fields of an account that say who a person is and what they may do.
WHO = {"username", "is_active", "is_superuser"}


@receiver([post_save, post_delete], sender=Membership)
@receiver([post_save, post_delete], sender=get_user_model())
def forget_people(update_fields: Iterable[str] | None = None, **_: Any) -> None:
    """Clear what is remembered of people, at once and on commit. A sign-in changes nothing of it."""
    if update_fields is None or WHO.intersection(update_fields):
        for forget in (forget_names, forget_tokens):
            forget()
            transaction.on_commit(forget)


@receiver(pre_save, sender=Membership)
def refuse_namesake(instance: Membership, raw: bool = False, **_: Any) -> None:
    """Nobody joins a project under the name of its agent: forms ask for another name before."""
    if instance._state.adding and not raw:
        check_new_member(instance)


@receiver(pre_save, sender=get_user_model())
def remember_username(
    instance: Any, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw or not instance.pk or (update_fields is not None and "username" not in update_fields):
        return
    stored = type(instance).objects.filter(pk=instance.pk).values_list("username", flat=True)
    instance.__dict__["_ctxhub_was"] = stored.first() or ""


@receiver(post_save, sender=get_user_model())
def rename_agents_of_person(instance: Any, **_: Any) -> None:
    if (was := instance.__dict__.pop("_ctxhub_was", "")) not in ("", instance.username):
        rename_person(instance, was)


@receiver(recorded)
def clean_up(project_id: int, at: datetime, **_: Any) -> None:
    """Remove expired rows after a write, at most once a minute."""
    cleanup_sometimes(project_id, at)


# -- The index -------------------------------------------------------------------------------------


@receiver(registry.registered)
def connect_receivers(noun: Noun, **_: Any) -> None:
    """Connect the delete receivers of indexed nouns only: Django deletes models without receivers in one
    statement.

    Earlier states are deleted with their parent row, so their ids are read before that.
    """
    if parent := registry.find_noun(noun.earlier_states_of):
        pre_delete.connect(remember_states, sender=parent.model, dispatch_uid=f"keep {noun.kind}")
    elif noun.documents:
        post_delete.connect(forget_row, sender=noun.model, dispatch_uid=f"forget {noun.kind}")
    # After the index: the events of a transaction are written last.
    if noun.history:
        noun.history.watch()


def forget_row(sender: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    """Remove a row deleted through the ORM from the index. Deleting a project deletes its index anyway."""
    if getattr(origin, "model", type(origin)) is Project:
        return
    for noun in searched_nouns():
        if noun.model is sender:
            states = instance.__dict__.pop("_ctxhub_states", ())
            forget(instance.project_id, noun.kind, [instance.pk], states)


def remember_states(sender: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    """Remember the ids of the earlier states of a row: a cascade deletes them before the row."""
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
def index_renamed_word(
    instance: NamedRow,
    created: bool,
    raw: bool = False,
    update_fields: Iterable[str] | None = None,
    **_: Any,
) -> None:
    """Index the rows again whose documents contain the name of a renamed word."""
    if created or raw or (update_fields is not None and "name" not in update_fields):
        return
    with write_transaction(instance.project_id):
        for noun in indexed_nouns():
            if noun.showing:
                index_again(instance.project_id, noun.kind, noun.showing(instance))


@receiver(pre_save, sender=Tag)
@receiver(pre_save, sender=Scope)
@receiver(pre_save, sender=Category)
@receiver(pre_save, sender=Layer)
def remember_old_name(
    instance: NamedRow, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    """Remember the stored name in `was`, unless the caller has set it."""
    if raw or not instance.pk or instance.was or (update_fields is not None and "name" not in update_fields):
        return
    acquire_write_lock(instance.project_id)
    stored = type(instance).unscoped.filter(pk=instance.pk).values_list("name", flat=True)
    instance.was = stored.first() or ""


@receiver(post_save, sender=Tag)
@receiver(post_save, sender=Scope)
@receiver(post_save, sender=Category)
@receiver(post_save, sender=Layer)
def record_renamed_word(instance: NamedRow, **_: Any) -> None:
    was, instance.was = instance.was, ""
    if was not in ("", instance.name):
        with write_transaction(instance.project_id):
            record_new_name(instance, was)


@receiver(post_migrate)
def index_after_migrate(sender: AppConfig, using: str, plan: Any = None, **_: Any) -> None:
    """Index after an upgrade what is missing. A flush has no plan and leaves nothing to index."""
    if sender.label == "core" and using == DEFAULT_DB_ALIAS and plan is not None and _is_migrated():
        mend_parts(thoroughly=False)
        index_missing()


def _is_migrated() -> bool:
    """Whether all migrations are applied; else the tables may not match the models."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


# -- Connections -----------------------------------------------------------------------------------


# The statements that a connection keeps prepared; the hub has some 300, and psycopg would keep 100.
MOST_PREPARED = 500


@receiver(connection_created)
def set_up_sqlite(connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite":
        watch_statements(connection.connection)


@receiver(connection_created)
def set_up_postgresql(connection: Any, **_: Any) -> None:
    """Turn off PostgreSQL's JIT compiler, which took 150 ms for queries of 2 ms, limit what reads take, keep
    more prepared, and read times by compiled code.
    """
    if connection.vendor == "postgresql":
        from ctxhub.core.kit.postgresql_times import read_times_quickly  # psycopg is not loaded on SQLite.

        with connection.cursor() as cursor:
            cursor.execute(f"SET jit = off; SET statement_timeout = {statement_timeout()}")
        connection.connection.prepared_max = MOST_PREPARED
        read_times_quickly(connection)
