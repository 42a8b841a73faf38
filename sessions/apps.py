from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """The app of agent sessions. Its label differs from its name: `sessions` is taken by Django's own app."""

    name = "sessions"
    label = "agent_sessions"

    def ready(self) -> None:
        from sessions import nouns, signals, tools  # noqa: F401
