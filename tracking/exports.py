"""What files, their contents and changes are in an export. Leases are not: they are of the moment."""

import hashlib

from ctxhub.core.text.path_case import fold_path
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Values, register
from tracking.models import FileChange, FileContent, Resource


def _content_derived(values: Values) -> Values:
    """`compressed` and `digest` are made again when they are needed."""
    text = values["text"]
    return {
        "hash": hashlib.sha256(text.encode()).hexdigest(),
        "tokens": count_tokens(text),
        "compressed": "",
        "compressed_tokens": None,
        "digest": "",
        "digest_tokens": None,
    }


def _file_derived(values: Values) -> Values:
    return {"folded": fold_path(values["path"])}


register(
    Exported(
        FileContent,
        derived=("hash", "tokens", "compressed", "compressed_tokens", "digest", "digest_tokens"),
        derive=_content_derived,
        kind="content",
        natural=("hash",),
        has_ids=False,
        is_word=True,
    ),
    Exported(
        Resource,
        derived=("folded",),
        derive=_file_derived,
        cleaners={"path": cleaners.path},
        kind="resource",
        natural=("path",),
        loose=("access_count", "last_accessed", "best_access"),
        has_ids=False,
    ),
    Exported(
        FileChange,
        linked=("description",),
        kind="change",
    ),
)
