"""The signature by which a receiver knows that the hub has sent a body, and when."""

import hashlib
import hmac


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """`sha256=` and the HMAC of timestamp, dot and body."""
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"sha256={digest.hexdigest()}"
