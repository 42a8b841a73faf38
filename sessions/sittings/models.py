"""A session: a piece of work of one agent, with its conversations, items and the state of its workspace."""

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.models import ProjectRow
from ctxhub.core.models import Agent

WORKSPACE_LENGTH = 200
HASH_LENGTH = 200
DEFAULT_WORKSPACE = "default"
OTHER_FILTERS = ("is_implicit", "saved_at")


class AgentSession(ProjectRow):
    """`name`: the client's own name for it. `is_implicit`: opened by a call that named none, and never saved.

    `saved_at` is null before the first save. `current_at`: when it was last saved, or made by a restore; a
    call over HTTP that names no session belongs to the agent's last such session of 24 hours.
    """

    agent = models.ForeignKey(
        Agent, null=True, on_delete=models.RESTRICT, related_name="sessions", db_index=False
    )
    name = models.CharField(max_length=SESSION_NAME_LENGTH, blank=True)
    workspace_id = models.CharField(max_length=WORKSPACE_LENGTH, default=DEFAULT_WORKSPACE)
    summary = models.TextField(blank=True)
    token_count = models.PositiveIntegerField(default=0)
    parent = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="children",
        db_index=False,
        verbose_name="continues",
    )
    is_implicit = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    saved_at = models.DateTimeField(null=True, blank=True)
    current_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(ProjectRow.Meta):
        verbose_name = "session"
        ordering = ("-created_at", "-id")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "name"),
                condition=~models.Q(name=""),
                name="sessions_one_session_per_name",
                violation_error_message="A session with this name exists.",
            ),
        )
        indexes = (
            # Each list uses an index that ends in its order. The columns after that are those of other
            # filters, so that rows are counted without reading the table.
            models.Index(
                fields=("project", "-created_at", "-id", *OTHER_FILTERS, "parent"),
                name="sessions_session_by_time",
            ),
            models.Index(
                fields=(
                    "project",
                    "agent",
                    "-created_at",
                    "-id",
                    *OTHER_FILTERS,
                    "parent",
                    "workspace_id",
                ),
                name="sessions_session_by_agent",
            ),
            models.Index(
                fields=(
                    "project",
                    "workspace_id",
                    "-created_at",
                    "-id",
                    *OTHER_FILTERS,
                    "parent",
                    "agent",
                ),
                name="sessions_session_by_space",
            ),
            models.Index(
                fields=("parent", "-created_at", "-id", *OTHER_FILTERS, "project"),
                name="sessions_session_by_parent",
            ),
            # The session to restore, and the session of a call that names none.
            models.Index(
                fields=("project", "agent", "workspace_id", "-saved_at", "-id"),
                name="sessions_session_last_saved",
                condition=models.Q(saved_at__isnull=False),
            ),
            models.Index(
                fields=("project", "agent", "-current_at", "-id"),
                name="sessions_session_current",
                condition=models.Q(current_at__isnull=False),
            ),
            # Retention.
            models.Index(fields=("project", "updated_at", "id"), name="sessions_session_oldest"),
        )

    def __str__(self) -> str:
        return f"session {self.pk}"

    @property
    def ref(self) -> str:
        return f"session:{self.pk}"


class Conversation(ProjectRow):
    """A conversation as it was saved. `hash` tells whether the next one saved differs."""

    session = models.ForeignKey(
        AgentSession, on_delete=models.CASCADE, related_name="conversations", db_index=False
    )
    text = models.TextField()
    token_count = models.PositiveIntegerField()
    hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-created_at", "-id")
        indexes = (
            models.Index(fields=("session", "-created_at", "-id"), name="sessions_conversation_newest"),
        )

    def __str__(self) -> str:
        return f"conversation {self.pk}"


class ContextItem(ProjectRow):
    """A piece of context that was saved with a session: code, a concept, a task."""

    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveSmallIntegerField()
    category = models.CharField(max_length=100, blank=True)
    content = models.TextField()
    importance = models.PositiveSmallIntegerField(default=5)
    token_count = models.PositiveIntegerField()

    class Meta(ProjectRow.Meta):
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("session", "position"), name="sessions_one_item_per_position"),
        )

    def __str__(self) -> str:
        return f"item {self.position} of {self.session_id}"


class WorkspaceState(ProjectRow):
    """The state of the workspace when a session was saved. States are only added; the newest is valid."""

    session = models.ForeignKey(AgentSession, on_delete=models.CASCADE, related_name="states", db_index=False)
    active_project = models.CharField(max_length=WORKSPACE_LENGTH, blank=True)
    enabled_mcps = models.JSONField(default=list, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    branch = models.CharField(max_length=WORKSPACE_LENGTH, blank=True)
    worktree = models.CharField(max_length=1_000, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        ordering = ("-created_at", "-id")
        indexes = (models.Index(fields=("session", "-created_at", "-id"), name="sessions_state_newest"),)

    def __str__(self) -> str:
        return f"state {self.pk}"
