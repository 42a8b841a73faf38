"""The actions of the tool `constraint`."""

from typing import Annotated, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import REQUIRED_TEXT, WORD
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import About, IdOf, Number
from memory.constraints import services
from memory.constraints.inputs import ConstraintArguments
from memory.constraints.queries import ConstraintFilters, list_constraints

tool(
    "constraint",
    "What must hold. Look before you design.",
    otherwise=[({"text"}, "add"), (set(), "list")],
)


Id = Annotated[Number, IdOf("constraint")]
Reason = Annotated[str, About("Stands in the log.")]


@action(
    "constraint",
    "add",
    writes=True,
    idempotent=True,
    example={
        "category": "performance",
        "text": "Answers take less than 50 ms at the 95th percentile.",
        "priority": "high",
        "layer": "business",
        "tags": ["api"],
        "reason": "Agents wait for every call.",
    },
    also_known_as=("add_constraint", "create", "set"),
)
def add(
    caller: Caller,
    category: Annotated[str, About("performance, architecture, security, or a new one.", WORD)],
    text: Annotated[str, About(schema=REQUIRED_TEXT)],
    **rest: Unpack[ConstraintArguments],
) -> services.AddAnswer:
    """State what must hold; priority is medium unless said.

    Categories: performance, architecture, security, or a new one. The same words again change nothing, save
    that an inactive constraint becomes active. `paths`: globs of files it bears on, such as src/*.{ts,tsx};
    !src/gen/** behind them exempts files. `reason`: why it must hold.
    """
    return services.add_constraint(caller=caller, category=category, text=text, **rest)


@action(
    "constraint",
    "list",
    example={"priority": "critical", "tags": ["api"], "limit": 10},
    also_known_as=("get_constraints", "get", "search"),
)
def list_(caller: Caller, **filters: Unpack[ConstraintFilters]) -> Listing:
    """Constraints that pass every filter, the most urgent first, then by category, then the newest.

    Texts are cut to 200 characters unless full. `scope` may be a glob (api/*); `by` is an agent. `tags`:
    security finds security/tls, too, as do the globs sec*, security/* and {api,security}. `stale`: true, only
    those whose files changed since; false, only the others.
    """
    return list_constraints(caller.project_id, **filters)


@action(
    "constraint",
    "deactivate",
    writes=True,
    idempotent=True,
    example={"id": 4, "reason": "The client was replaced."},
    also_known_as=("deactivate_constraint", "delete", "remove"),
)
def deactivate(caller: Caller, id: Id, reason: Reason | None = None) -> services.StatusAnswer:
    """It need not hold any more; say why. It stays, and can be activated again."""
    return services.deactivate_constraint(caller=caller, constraint_id=id, reason=reason)


@action(
    "constraint",
    "activate",
    writes=True,
    idempotent=True,
    example={"id": 4},
    also_known_as=("activate_constraint",),
)
def activate(caller: Caller, id: Id) -> services.StatusAnswer:
    """It must hold again."""
    return services.activate_constraint(caller=caller, constraint_id=id)
