import re
from argparse import ArgumentTypeError
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import QuerySet

from ctxhub.core.accounts.access_tokens import NewToken, create_token, find_token, in_state, revoke_token
from ctxhub.core.accounts.own_tokens import clean_grace, rotate_token
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.models import AccessToken
from ctxhub.core.text.invisible import marked_all
from ctxhub.management.projects import find_project
from ctxhub.management.ready_lines import as_text, token_lines
from ctxhub.management.refusals import as_command_errors, refuse_other_version

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
LEAST_START = 6
EXPIRES = "Use a time from now (12h, 30d, 8w) or a date: 2027-01-31."


class Command(BaseCommand):
    help = "Make, list, rotate and revoke the access tokens of a project."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="create|list|rotate|revoke")
        create = actions.add_parser("create", help="Make a token; it is shown once.")
        create.add_argument("--project", required=True, help="The project's slug.")
        create.add_argument("--agent", type=filled, help="The token speaks for this agent only.")
        create.add_argument(
            "--scopes", type=filled, default="read,write", help="Of read,write,admin; default: read,write."
        )
        create.add_argument(
            "--expires", type=filled, help="After 12h, 30d, 8w, or at 2027-01-31; default: never."
        )
        create.add_argument("--name", type=filled, help="What lists call it; default: the agent's name.")
        create.add_argument("--plain", action="store_true", help="Print the token alone, for scripts.")
        listing = actions.add_parser("list", help="Show tokens, newest first; never the tokens themselves.")
        listing.add_argument("--project", help="Of this project only.")
        listing.add_argument(
            "--unused", action="store_true", help="Only those that are good and were not used for 90 days."
        )
        rotate = actions.add_parser("rotate", help="Make a token like it, and end the old one after a while.")
        rotate.add_argument("token", metavar="ID-or-start", help="As `token list` shows it.")
        rotate.add_argument("--project", help="Look in this project only.")
        rotate.add_argument(
            "--grace",
            type=filled,
            default="24h",
            help="How long the old one stays good: 0, 90m, 24h, 7d; default: 24h.",
        )
        rotate.add_argument(
            "--agent", type=filled, help="The new one speaks for this agent only; default: as the old one."
        )
        rotate.add_argument("--plain", action="store_true", help="Print the token alone, for scripts.")
        revoke = actions.add_parser("revoke", help="End a token now.")
        revoke.add_argument("token", metavar="ID-or-start", help="As `token list` shows it.")
        revoke.add_argument("--project", help="Look in this project only.")

    def handle(self, *args: Any, **options: Any) -> None:
        with as_command_errors():
            refuse_other_version()
            getattr(self, f"_{options['action']}")(options)

    def _create(self, options: dict[str, Any]) -> None:
        new = create_token(
            project=find_project(options["project"]),
            name=options["name"] or "",
            agent=options["agent"] or "",
            scopes=options["scopes"].split(","),
            expires_at=None if options["expires"] is None else _moment(options["expires"]),
        )
        self._show(new, plain=options["plain"])

    def _rotate(self, options: dict[str, Any]) -> None:
        token = _find(options["token"], _tokens(options["project"]))
        new = rotate_token(
            token, grace=clean_grace(options["grace"], "--grace"), agent=options["agent"] or ""
        )
        self._show(new, plain=options["plain"])
        if not options["plain"]:
            token.refresh_from_db()
            ends = f"until {clock.format_time(token.expires_at)}" if token.expires_at else "no longer"
            ends = "no longer" if token.revoked_at else ends
            self.stdout.write(f"\nThe old token {token.pk} is good {ends}.")

    def _show(self, new: NewToken, *, plain: bool) -> None:
        if plain:
            self.stdout.write(new.secret)
            return
        self.stdout.write(f"{new.secret}\n\nToken {_described(new.row)}. It is not shown again.\n")
        self.stdout.write(as_text(token_lines(new)))

    def _list(self, options: dict[str, Any]) -> None:
        found = _tokens(options["project"])
        tokens = list(in_state(found, "unused") if options["unused"] else found)
        for token in tokens:
            self.stdout.write(_described(token))
        if not tokens and options["unused"]:
            self.stdout.write("Every token that is good was used, or made, within 90 days.")
        elif not tokens:
            self.stdout.write("No tokens yet: manage.py token create --project P")

    def _revoke(self, options: dict[str, Any]) -> None:
        token = _find(options["token"], _tokens(options["project"]))
        was_revoked = token.revoked_at
        revoke_token(token)
        self.stdout.write(
            f"Token {token.pk}, {token}, {'was revoked already' if was_revoked else 'is revoked'}."
        )


def filled(value: str) -> str:
    """The value of an option. A blank one comes from an unset variable, and would mean "any" or "never"."""
    if not value.strip():
        raise ArgumentTypeError("is blank; leave the option out, or give it a value")
    return value


def _tokens(project: str | None) -> QuerySet[AccessToken]:
    tokens = AccessToken.unscoped.select_related("project", "agent", "owner").order_by("-pk")
    return tokens.filter(project=find_project(project)) if project else tokens


def _find(value: str, tokens: QuerySet[AccessToken]) -> AccessToken:
    """Find a token by id, first characters or the token itself. Raises CommandError."""
    value = value.strip().rstrip("…")
    if value.isdecimal():
        found = list(tokens.filter(pk=int(value)))
    elif row := find_token(value):
        found = list(tokens.filter(pk=row.pk))
    elif len(value) >= LEAST_START:
        found = list(tokens.filter(start__startswith=value)[:5])
    else:
        raise CommandError(f"{value!r} is too short: give the id, or at least {LEAST_START} characters.")
    if len(found) > 1:
        raise CommandError(f"{value!r} begins several: {', '.join(map(str, found))}. Give the id.")
    if not found:
        raise CommandError(f"There is no token {value!r} here; `manage.py token list` shows them.")
    return found[0]


def _described(token: AccessToken) -> str:
    """`3  ctx_AbC123…  ada  project demo, read+write, pinned to ada, expires ..., used ...`"""
    parts = [f"project {token.project.slug}", "+".join(token.scopes)]
    if token.agent:
        parts.append(f"speaks for {token.agent.name} only")
    if token.owner:
        parts.append(f"{token.owner.get_username()}'s own")
    if token.replaced_by_id:
        parts.append(f"rotated to {token.replaced_by_id}")
    if token.expires_at:
        verb = "expires" if token.expires_at > clock.now() else "expired"
        parts.append(f"{verb} {clock.format_time(token.expires_at)}")
    if token.revoked_at:
        parts.append(f"revoked {clock.format_time(token.revoked_at)}")
    parts.append(f"last used {clock.format_time(token.last_used_at)}" if token.last_used_at else "never used")
    return marked_all(f"{token.pk}  {token.start}…  {token.name}: {', '.join(parts)}")


def _moment(value: str) -> datetime:
    """`30d` from now, or a date or time in ISO 8601."""
    try:
        if ahead := re.fullmatch(r"(\d{1,6})\s*([mhdw])", value.strip(), re.ASCII):
            return clock.now() + timedelta(**{UNITS[ahead[2]]: int(ahead[1])})
        moment = clock.parse_moment(value, "--expires")
    except InvalidInput as error:
        raise CommandError(f"--expires: {shown(value)} is not a time. {EXPIRES}") from error
    except OverflowError:
        moment = None
    if not isinstance(moment, datetime):
        raise CommandError(f"--expires: {shown(value)} is too far ahead, or no time. {EXPIRES}")
    return moment
