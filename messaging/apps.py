from django.apps import AppConfig


class MessagingConfig(AppConfig):
    name = "messaging"

    def ready(self) -> None:
        from messaging import nouns, signals, tools  # noqa: F401
        from messaging.selectors import views  # noqa: F401
        from messaging.services import cleanup as retention_rules  # noqa: F401
