"""Encrypts addresses and secrets, reads those by earlier keys, and signs what is sent."""

import base64
import hashlib
import hmac
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """`sha256=` and the HMAC of timestamp, dot and body."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"


_PURPOSE = b"ctxhub webhooks: "


class Unreadable(Exception):
    """The secret key with which it was encrypted is neither the hub's nor among the earlier ones."""


def seal(text: str) -> str:
    return _box().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str:
    """Raises Unreadable."""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


def seal_again(sealed: str) -> str:
    """The same by the current key. Raises Unreadable."""
    return seal(unseal(sealed))


def is_sealed_by_earlier_key(sealed: str) -> bool:
    from cryptography.fernet import InvalidToken

    try:
        _boxes((str(settings.SECRET_KEY),)).decrypt(sealed.encode())
    except InvalidToken:
        return True
    return False


def _box() -> "MultiFernet":
    return _boxes((str(settings.SECRET_KEY), *settings.SECRET_KEY_FALLBACKS))


@lru_cache(8)
def _boxes(keys: tuple[str, ...]) -> "MultiFernet":
    """Imported here: most processes send nothing, and it takes 20 ms."""
    from cryptography.fernet import Fernet, MultiFernet

    digests = [hashlib.sha256(_PURPOSE + key.encode()).digest() for key in keys]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
