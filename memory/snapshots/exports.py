"""What snapshots are in an export."""

from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Values, register
from memory.snapshots.models import Snapshot


def _derived(values: Values) -> Values:
    return {
        "tokens": count_tokens(values["content"]),
        "touched_at": values["last_accessed"] or values["created_at"],
    }


register(
    Exported(
        Snapshot,
        derived=("tokens", "touched_at"),
        derive=_derived,
        ids={"session_id": "session"},
        cleaners={"metadata": cleaners.object_, "reasons": cleaners.entries},
        kind="snapshot",
        loose=(
            *("tier", "access_count", "last_accessed", "last_accessed_by", "prediction_score", "temporal"),
            *("causal", "frequency", "reasons", "predicted_next", "predicted_at"),
        ),
    )
)
