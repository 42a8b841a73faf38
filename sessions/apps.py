from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """An agent's sittings. The label differs from the name: `sessions` is Django's own."""

    name = "sessions"
    label = "agent_sessions"
