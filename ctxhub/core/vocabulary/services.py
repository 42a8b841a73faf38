"""Adds, renames, moves and deletes words of the vocabulary, for people in the admin."""

from typing import TypeVar

from django.db.models import Max

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, acting, current
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_new_name, refuse_secret
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Layer, Scope, Tag
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.core.vocabulary.queries import count_uses


def add_layer(*, caller: Caller, name: str) -> Layer:
    """Add a layer below the others. Raises Conflict if the project has it, ignoring case."""
    name = clean_new_name(name, "name", at_most=WORD_LENGTH)
    refuse_secret(name, "name", caller)
    with write_transaction(caller.project_id):
        layers = Layer.objects.in_project(caller.project)
        if existing := layers.filter(folded=name.casefold()).first():
            raise Conflict(f"There is a layer {existing.name!r} already.")
        last = layers.aggregate(last=Max("position"))["last"]
        layer = Layer.objects.create(project=caller.project, name=name, position=(last or 0) + 1)
        at = clock.now()
        record(
            project_id=caller.project_id,
            agent_id=register_agent(caller, at),
            changes=[Change("layer", "created", f"layer:{name}")],
            at=at,
        )
    return layer


WordT = TypeVar("WordT", bound=NamedRow)


def add_word(*, caller: Caller, model: type[WordT], name: str) -> WordT:
    """Add a tag, scope or category. Raises Conflict if the project has it, ignoring case."""
    name = _clean(caller, model, name)
    with write_transaction(caller.project_id):
        _refuse_taken(caller, model, name)
        word = model.objects.create(project=caller.project, name=name)
        _record(caller, "created", word)
    return word


def rename_word(*, caller: Caller, word: WordT, name: str) -> WordT:
    """Rename a word everywhere. Raises Conflict if the name is taken."""
    name = _clean(caller, type(word), name)
    if name == word.name:
        return word
    with write_transaction(caller.project_id), acting(caller):
        _refuse_taken(caller, type(word), name, but=word)
        word.name, word.was = name, word.name
        word.save(update_fields=["name", "folded"])
    return word


def record_new_name(word: NamedRow, was: str) -> None:
    """Record the event of a renamed word."""
    _record(current(), "updated", word, was=was)


def move_layer(*, caller: Caller, layer: Layer, position: int) -> Layer:
    """Set the position of a layer among the others: 0 is the top."""
    with write_transaction(caller.project_id):
        layer.position = position
        layer.save(update_fields=["position"])
        _record(caller, "updated", layer, changed=["position"])
    return layer


def delete_word(*, caller: Caller, word: NamedRow) -> None:
    """Delete a word. Raises Conflict if it is in use."""
    with write_transaction(caller.project_id):
        if uses := count_uses(word):
            raise Conflict(f"{_kind(type(word)).capitalize()} {word.name!r} is in use {uses} times.")
        _record(caller, "deleted", word)
        word.delete()


def _clean(caller: Caller, model: type[NamedRow], name: str) -> str:
    name = clean_new_name(name, "name", at_most=WORD_LENGTH)
    if model in (Tag, Scope) and "," in name:
        raise InvalidInput(f"name: a {_kind(model)} holds no comma; it stands between two of them.")
    refuse_secret(name, "name", caller)
    return name


def _refuse_taken(caller: Caller, model: type[NamedRow], name: str, but: NamedRow | None = None) -> None:
    others = model.objects.in_project(caller.project).exclude(pk=but.pk if but else None)
    if existing := others.filter(folded=name.casefold()).first():
        raise Conflict(f"There is a {_kind(model)} {existing.name!r} already.")


def _record(caller: Caller | None, verb: str, word: NamedRow, **data: object) -> None:
    at, kind = clock.now(), _kind(type(word))
    record(
        project_id=word.project_id,
        agent_id=register_agent(caller, at) if caller else None,
        changes=[Change(kind, verb, f"{kind}:{word.name}", dict(data))],
        at=at,
    )


def _kind(model: type[NamedRow]) -> str:
    return str(model._meta.verbose_name)
