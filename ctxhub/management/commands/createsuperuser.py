from django.contrib.auth.management.commands import createsuperuser

from ctxhub.core.accounts.people import refuse_taken_username
from ctxhub.core.kit.errors import Conflict


class Command(createsuperuser.Command):
    """Django's command. A superuser acts in every project as the agent of their name: it is no agent's."""

    def _validate_username(self, username: str, verbose_field_name: str, database: str) -> str | None:
        error: str | None = super()._validate_username(username, verbose_field_name, database)  # type: ignore[misc]
        return error or _why_taken(username)


def _why_taken(username: str) -> str | None:
    try:
        refuse_taken_username(username, project_ids=None)
    except Conflict as error:
        return error.message
    return None
