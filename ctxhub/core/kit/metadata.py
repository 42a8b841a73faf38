"""Merges a change of metadata into the stored metadata, by key."""

import json
from collections.abc import Mapping
from typing import Any

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import TEXT_BYTES, merge_object
from ctxhub.core.kit.unset import Unset


def changed_metadata(
    stored: Mapping[str, Any], change: Mapping[str, Any] | None | Unset
) -> Mapping[str, Any]:
    """The stored metadata with a change: a null value removes its key, None all keys; UNSET changes nothing.

    Raises InvalidInput if the result is larger than 64 KiB.
    """
    if isinstance(change, Unset):
        return stored
    if change is None:
        return {}
    merged = merge_object(stored, change)
    adds = any(value is not None for value in change.values())
    size = len(json.dumps(merged, ensure_ascii=False).encode()) if stored and adds else 0
    if size > TEXT_BYTES:
        raise InvalidInput(
            f"metadata would have {size:,} bytes with what is there; the limit is {TEXT_BYTES:,}.",
            hint="null removes a key.",
        )
    return merged


def replacing_metadata(
    stored: Mapping[str, Any], given: Mapping[str, Any] | None | Unset
) -> Mapping[str, Any]:
    """The change that leaves what is given and nothing else."""
    return {**dict.fromkeys(stored), **(given or {})}
