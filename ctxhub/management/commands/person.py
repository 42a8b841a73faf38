from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from ctxhub.core.accounts.people import is_superuser
from ctxhub.core.kit import clock
from ctxhub.core.leavers.leaving import deactivate_person, what_would_end, why_not_deactivated
from ctxhub.core.leavers.password_links import make_password_link
from ctxhub.core.leavers.people import find_by_username, people
from ctxhub.core.text.invisible import marked_all
from ctxhub.core.text.plurals import counted
from ctxhub.management.refusals import as_command_errors, refuse_other_version


class Command(BaseCommand):
    help = "List the people of the hub, deactivate one who leaves, and make a link for a new password."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="list|deactivate|password-link")
        actions.add_parser("list", help="Show all accounts, with the number of their tokens.")
        leaving = actions.add_parser(
            "deactivate", help="End an account, its sign-ins and every token that the person made."
        )
        leaving.add_argument("username")
        leaving.add_argument("--dry-run", action="store_true", help="Only tell what would end.")
        link = actions.add_parser(
            "password-link", help="Make a link with which they choose a new password: once, within 24 hours."
        )
        link.add_argument("username")
        link.add_argument("--plain", action="store_true", help="Print the link alone, for scripts.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.WEB:
            raise CommandError("CTXHUB_WEB is off: without it this process knows no sign-ins. Unset it.")
        with as_command_errors():
            refuse_other_version()
            getattr(self, f"_{options['action'].replace('-', '_')}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        for user in people():
            kind = "superuser" if is_superuser(user) else "active" if user.is_active else "deactivated"
            seen = (
                f"last sign-in {clock.format_time(user.last_login)}" if user.last_login else "never signed in"
            )
            number = counted(user.tokens, "tokens")  # type: ignore[attr-defined]
            self.stdout.write(marked_all(f"{user.get_username()}: {kind}, {number}, {seen}"))

    def _deactivate(self, options: dict[str, Any]) -> None:
        user = find_by_username(options["username"])
        if options["dry_run"]:
            if why_not := why_not_deactivated(user):
                raise CommandError(why_not)
            self.stdout.write(f"It would end {what_would_end(user)} of {user.get_username()}.")
            return
        ended = deactivate_person(user)
        self.stdout.write(f"{user.get_username()} is deactivated. Ended: {ended}. What was saved stays.")

    def _password_link(self, options: dict[str, Any]) -> None:
        new = make_password_link(find_by_username(options["username"]))
        link = settings.BASE_URL + reverse("password_link", args=[new.secret])
        self.stdout.write(link)
        if not options["plain"]:
            self.stdout.write(
                f"\nFor {new.user.get_username()}, once, until {clock.format_time(new.expires_at)}."
                " It is not shown again."
            )
