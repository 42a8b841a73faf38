"""Adds layers, for administrators. Tags, scopes and categories are added by use: see names.py."""

from django.db.models import Max

from ctxhub.core.events.services.events import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_new_name, refuse_secret
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Layer
from ctxhub.core.vocabulary.services.names import register_agent


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
