"""What constraints are in an export."""

from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Values, register
from memory.constraints.models import Constraint, digest_of, rank_of


def _derived(values: Values) -> Values:
    return {
        "digest": digest_of(values["text"]),
        "rank": rank_of(values["priority"], values["category"]),
    }


register(
    Exported(
        Constraint,
        derived=("digest", "rank"),
        derive=_derived,
        linked=("text", "reason"),
        cleaners={"paths": cleaners.globs},
        kind="constraint",
        natural=("category_id", "digest"),
    )
)
