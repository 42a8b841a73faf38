"""The address by which others reach the hub."""

from django.conf import settings

from ctxhub import env


def base_url(opened_at: str) -> str:
    """CTXHUB_BASE_URL if set, else `opened_at`, else the default."""
    configured = env.text("CTXHUB_BASE_URL")
    url: str = settings.BASE_URL if configured or not opened_at else opened_at.rstrip("/")
    return url


def connect_line(hub: str) -> str:
    """What connects the coding clients of a machine with the hub: a person pastes it into a terminal."""
    return f"curl -fsSO {hub}/connect/ctxhub.pyz && python3 ctxhub.pyz connect {hub}"
