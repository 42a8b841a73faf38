from django.apps import AppConfig


class MessagingConfig(AppConfig):
    name = "messaging"

    def ready(self) -> None:
        from messaging import nouns, retention, signals, tools  # noqa: F401
        from messaging.messages import inbox  # noqa: F401
