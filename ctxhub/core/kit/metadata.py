"""Metadata as it is after a change: merged by key."""

import json
from collections.abc import Mapping
from typing import Any

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import TEXT_BYTES, merge_object
from ctxhub.core.kit.unset import Unset


def changed_metadata(stored: Mapping[str, Any], said: Mapping[str, Any] | None | Unset) -> Mapping[str, Any]:
    """What is stored with what is said: null removes a key, None all of them; UNSET changes nothing."""
    if isinstance(said, Unset):
        return stored
    if said is None:
        return {}
    merged = merge_object(stored, said)
    adds = any(value is not None for value in said.values())
    size = len(json.dumps(merged, ensure_ascii=False).encode()) if stored and adds else 0
    if size > TEXT_BYTES:
        raise InvalidInput(
            f"metadata would have {size:,} bytes with what is there; the limit is {TEXT_BYTES:,}.",
            hint="null removes a key.",
        )
    return merged
