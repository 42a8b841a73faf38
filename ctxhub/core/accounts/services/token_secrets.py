"""Secrets that are shown once, and their keyed digests, which are stored."""

import hashlib
import hmac
import secrets

from django.conf import settings

PREFIX = "ctx_"


def new_secret() -> str:
    """40 random characters behind a prefix by which logs and texts mask them."""
    return PREFIX + secrets.token_urlsafe(30)


def digest_of(secret: str) -> str:
    return _digest(secret, settings.SECRET_KEY)


def digests_of(secret: str) -> list[str]:
    """The digests by the current and by earlier keys."""
    return [_digest(secret, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def _digest(secret: str, key: str) -> str:
    return hmac.new(key.encode(), secret.encode(errors="replace"), hashlib.sha256).hexdigest()
