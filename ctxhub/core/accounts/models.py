"""Models of accounts: projects, their settings and members, agents, access tokens, invitations, visits."""

from datetime import timedelta
from uuid import uuid4

from django.conf import settings
from django.db import models

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import NamedRow, ProjectRow


class ShownProjects(models.Manager["Project"]):
    def get_queryset(self) -> models.QuerySet["Project"]:
        return super().get_queryset().filter(is_hidden=False)


class Project(models.Model):
    """The tenant: one team's shared context. Projects share no data.

    `uuid`: names it in exports. `is_hidden`: it holds the rows of an import that is at work or was cut off:
    see core/transfer.
    """

    uuid = models.UUIDField(default=uuid4, unique=True, editable=False)
    is_hidden = models.BooleanField(default=False, db_default=False, editable=False)
    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)
    config = models.JSONField(
        default=dict, blank=True, editable=False, help_text="What differs from the defaults."
    )

    unscoped = models.Manager()
    objects = ShownProjects()

    class Meta:
        ordering = ("slug",)
        base_manager_name = "unscoped"
        default_manager_name = "objects"

    def __str__(self) -> str:
        return self.name or self.slug


class Membership(models.Model):
    """A person's role in a project: viewers read, members read and write, admins do everything."""

    class Role(models.IntegerChoices):
        VIEWER = 1, "viewer"
        MEMBER = 2, "member"
        ADMIN = 3, "admin"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("project", "user"),
                name="core_one_membership_per_person",
                violation_error_message="This person already belongs to the project.",
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} in {self.project} ({self.get_role_display()})"


@frozen
class Config:
    """A project's settings. `Project.config` stores those that differ from these defaults.

    `ignore_weekend`: Saturdays, Sundays and `holidays` (ISO dates), in the project's `time_zone`, do not
    count towards the age of messages and changes. `record_given`: what agents open and write is recorded;
    `tell_stale`: they hear when a decision among it changes. `ignore_case_in_paths`: `SRC/A.py` is
    `src/a.py`, as on macOS and Windows. `escalate_minutes`: after which the log says that a request
    nobody claims, or a message to be acknowledged that nobody reads, waits; 0: never. `enrolment`: members
    may let programs on their machines fetch tokens by a code.
    """

    ignore_weekend: bool = False
    time_zone: str = "UTC"
    holidays: tuple[str, ...] = ()
    message_hours: int = 24
    change_days: int = 7
    scratchpad_days: int = 7
    session_days: int = 30
    access_days: int = 90
    auto_prune: bool = False
    tell_stale: bool = True
    record_given: bool = True
    ignore_case_in_paths: bool = False
    escalate_minutes: int = 0
    enrolment: bool = True

    @property
    def messages_last(self) -> timedelta:
        return timedelta(hours=self.message_hours)

    @property
    def changes_last(self) -> timedelta:
        return timedelta(days=self.change_days)


class Agent(NamedRow):
    class Kind(models.IntegerChoices):
        AGENT = 1, "agent"
        HUMAN = 2, "human"

    kind = models.PositiveSmallIntegerField(choices=Kind, default=Kind.AGENT)
    created_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)

    class Meta(NamedRow.Meta):
        constraints = (models.UniqueConstraint(fields=("project", "folded"), name="core_one_agent_per_name"),)
        indexes = (models.Index(fields=("project", "-last_seen_at"), name="core_agent_last_seen"),)


class AccessToken(ProjectRow):
    """A credential for one project and some scopes, optionally for one agent only, optionally expiring.

    `owner`: the member whose own it is. It may do what their role allows, and nothing without one.
    """

    name = models.CharField(max_length=100)
    agent = models.ForeignKey(
        Agent,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="access_tokens",
        help_text="Pinned to this agent; left empty, the token may speak for any agent of the project.",
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    start = models.CharField(
        max_length=12, editable=False, help_text="The first characters, to tell tokens apart."
    )
    scopes = models.JSONField(default=list, help_text="Any of read, write, admin.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        editable=False,
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="own_access_tokens",
        editable=False,
        help_text="The member whose own it is; empty: the project's.",
    )
    # Of the program that asked for it, as it said.
    client = models.CharField(max_length=100, blank=True, editable=False)
    host = models.CharField(max_length=100, blank=True, editable=False)
    renews = models.BooleanField(
        default=False, editable=False, help_text="Whether it may make one in its own place before it ends."
    )
    # What a client uses in its place; until it expires both are good.
    replaced_by = models.OneToOneField(
        "self", null=True, on_delete=models.SET_NULL, related_name="replaces", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ProjectRow.Meta):
        indexes = (models.Index(fields=("project", "-created_at"), name="core_token_newest"),)

    def __str__(self) -> str:
        return f"{self.name} ({self.start}…)"

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > clock.now())


class Invitation(ProjectRow):
    """A link with which one person joins a project in a role, once and until it expires."""

    name = models.CharField("for", max_length=100, help_text="Whom it is for, as a note to yourselves.")
    role = models.PositiveSmallIntegerField(choices=Membership.Role, default=Membership.Role.VIEWER)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)
    used_at = models.DateTimeField(null=True, editable=False)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta(ProjectRow.Meta):
        indexes = (models.Index(fields=("project", "-created_at"), name="core_invitation_newest"),)

    def __str__(self) -> str:
        return f"{self.name} ({self.get_role_display()})"

    @property
    def ref(self) -> str:
        return f"invitation:{self.pk}"

    @property
    def state(self) -> str:
        if self.used_at:
            return "used"
        if self.revoked_at:
            return "revoked"
        return "open" if self.expires_at > clock.now() else "expired"


class HeardSession(ProjectRow):
    """A session as the calls of an agent name it; it may hold leases without ever being saved.

    `folded`: the agent's case-folded name. `made_up`: a process chose the session's name. `now_called`: the
    name under which the window goes on, "" while it is its own.
    """

    folded = models.CharField(max_length=300, editable=False)
    name = models.CharField(max_length=SESSION_NAME_LENGTH)
    made_up = models.BooleanField(default=False)
    now_called = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    heard_at = models.DateTimeField()

    class Meta(ProjectRow.Meta):
        constraints = (
            models.UniqueConstraint(fields=("project", "folded", "name"), name="core_one_heard_session"),
        )
        indexes = (models.Index(fields=("project", "heard_at"), name="core_session_heard"),)

    def __str__(self) -> str:
        return self.name


class Visit(models.Model):
    """The current visit of a person. `before_at`: the end of the visit before it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    last_at = models.DateTimeField()
    before_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"visit of {self.user_id}"


class Preference(models.Model):
    """What a person has chosen for themselves. `broadcasts`: what goes to everyone is also for them."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    broadcasts = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"preference of {self.user_id}"


class SignInFailure(models.Model):
    """The failed sign-ins in a row with one name, known or not, from one address."""

    name = models.CharField("who", max_length=150, help_text="Case-folded.")
    address = models.CharField(max_length=45)
    count = models.PositiveIntegerField(default=0)
    first_at = models.DateTimeField("first")
    last_at = models.DateTimeField("last")
    until = models.DateTimeField("refused until", null=True, blank=True)

    class Meta:
        verbose_name = "failed sign-in"
        constraints = (
            models.UniqueConstraint(fields=("name", "address"), name="core_one_count_per_sign_in"),
        )
        indexes = (models.Index(fields=("last_at",), name="core_sign_in_oldest"),)

    def __str__(self) -> str:
        return f"{self.name} from {self.address}"


class RequestCount(models.Model):
    """How many requests with a token all processes have taken of its rate limit in a minute."""

    token = models.OneToOneField(AccessToken, on_delete=models.CASCADE, primary_key=True, related_name="+")
    minute = models.BigIntegerField(help_text="Since 1970.")
    taken = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.taken} requests of token {self.token_id}"
