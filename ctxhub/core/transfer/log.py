"""What `--with-log` adds to an export: events, calls with their tokens, refusals, searches without hits."""

from ctxhub.core.models import EmptySearch, Event, Refusal, TokenUse
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Values, register


def _folded_name(values: Values) -> Values:
    return {"folded": values["name"].casefold()}


register(
    Exported(
        Event,
        refs=("ref", "data"),
        cleaners={"data": cleaners.object_},
        kind="event",
        has_ids=False,
        is_word=True,
        is_log=True,
        is_past=True,
    ),
    Exported(
        TokenUse,
        derived=("folded",),
        derive=_folded_name,
        kind="use",
        natural=("hour", "folded", "operation"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Refusal,
        derived=("folded",),
        derive=_folded_name,
        refs=("ref",),
        kind="refusal",
        natural=("ref", "folded", "code", "minute"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        EmptySearch,
        derived=("folded",),
        derive=lambda values: {"folded": values["query"].casefold()},
        kind="empty_search",
        natural=("folded",),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
)
