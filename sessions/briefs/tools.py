"""The tools `brief` and `check`: what to know before work, and before an edit."""

from typing import Annotated

from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import PATH
from ctxhub.core.kit.listing import Fitting
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import NAMES_OF_BUDGETS, SINCE, About, Number, PathList, also_called
from sessions.briefs.brief import DEFAULT_BUDGET, LEAST_BUDGET, MOST_BUDGET, BriefAnswer
from sessions.briefs.brief import brief as read_brief
from sessions.briefs.services import give_answer
from sessions.checks.check import DEFAULT_BUDGET as CHECK_BUDGET
from sessions.checks.check import CheckAnswer
from sessions.checks.check import check as read_check

tool("brief", "Begin here: what bears on your task.", always_loaded=True)
tool("check", "Before you edit files.", always_loaded=True)

Budget = Annotated[
    Number,
    About("For the whole answer.", {"minimum": LEAST_BUDGET, "maximum": MOST_BUDGET}),
    also_called(*NAMES_OF_BUDGETS),
]


@action(
    "brief",
    counts_mail=True,
    example={"task": "Add rate limiting to the login in shop/api/login.py", "budget_tokens": 800},
)
def brief(
    caller: Caller,
    task: Annotated[str, About("What you are about to do, in a sentence, with its paths.")] | None = None,
    budget_tokens: Budget = DEFAULT_BUDGET,
    since: Annotated[str, About(f"Only what is new. {SINCE}")] | None = None,
) -> BriefAnswer:
    """Get what bears on a task, in one answer of at most `budget_tokens` (60..20000; left out: 1500).

    Sections: session (where you stopped), constraints, decisions, messages (unread), leases and changes of
    others, memories, snapshots; rows ref, text, by (a long name is in `agents`), at (the day). get reads a
    ref whole; `omitted` counts what did not fit. `since`: the `cursor` of an earlier brief, then only what
    others changed after it, and unread mail.
    """
    found = read_brief(
        caller=caller, task=task, budget_tokens=budget_tokens, since=since, mail=count_urgent(caller)
    )
    return give_answer(caller, found)


@action(
    "check",
    counts_mail=True,
    example={"paths": ["shop/api/login.py", "shop/api/**"], "intent": "limit logins"},
)
def check(
    caller: Caller,
    paths: Annotated[PathList, About("Up to 50 paths or globs.", {"minItems": 1}, items=PATH)],
    intent: Annotated[str, About("What you want to do there.")] | None = None,
    budget_tokens: Budget = CHECK_BUDGET,
) -> Fitting[CheckAnswer]:
    """Before you edit: what must hold for these files, and who else is at them.

    `clear` is false when another agent has an exclusive lease on one of the paths or changed one in the last
    hour. constraints and decisions bear on them by a glob, a scope that names a folder or the file, or
    everywhere; `why` says which. `intent`: also the five that match it best.
    """
    return read_check(
        caller=caller, paths=paths, intent=intent, budget_tokens=budget_tokens, mail=count_urgent(caller)
    ).answer()
