"""The arguments that calls take besides those of their action."""

from typing import Annotated

from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.caller import ALLOW_SECRET
from ctxhub.core.kit.limits import WORD
from ctxhub.core.kit.unset import UNSET
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.argument_types import UNDECLARED, About, Number, Ref, Says, also_called

Budget = Annotated[
    Number,
    About(f"A budget for the answer, {MAX_TOKENS:,} at most; `omitted` counts what did not fit."),
    also_called("budget_tokens", "token_budget", "budget"),
]

AGENT = Argument("agent", Annotated[str, About("Which of your agents speaks.", WORD)], False, UNSET)
# The id or the name of the session that the call belongs to.
SESSION = Argument("session", Annotated[Ref, UNDECLARED], False, UNSET)
FORMAT = Argument("format", Annotated[str, Says("rows|objects"), UNDECLARED], False, UNSET)
BUDGET = Argument("max_tokens", Budget, False, UNSET)
FORMATS = tuple(FORMAT.choices)
EXACT = Argument(
    "exact",
    Annotated[
        bool, About("Paths are names as they are, also with quotes, commas, `@` or `:42`."), UNDECLARED
    ],
    False,
    UNSET,
)
SECRET = Argument(
    ALLOW_SECRET,
    Annotated[
        bool,
        About("With the scope admin: stores what looks like a credential. The answer says what it stored."),
        UNDECLARED,
    ],
    False,
    UNSET,
)
COMMON = (AGENT, FORMAT, BUDGET, EXACT, SESSION, SECRET)
