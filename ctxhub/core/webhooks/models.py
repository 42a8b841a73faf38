"""The models of webhooks and of what was delivered to them."""

from django.db import models

from ctxhub.core.kit.models import ProjectRow


class WebhookKind(models.IntegerChoices):
    """What is at the address, and so the shape of what it is sent."""

    JSON = 1, "json"
    SLACK = 2, "slack"
    TEAMS = 3, "teams"
    DISCORD = 4, "discord"


class DeliveryStatus(models.IntegerChoices):
    """Dead: given up, until a person sends it again."""

    WAITING = 1, "waiting"
    DELIVERED = 2, "delivered"
    DEAD = 3, "dead"


class Webhook(ProjectRow):
    """An address that is told the events of a project, those that pass its conditions.

    `cursor`: the id of the last event that is dealt with; a write of an event writes nothing here.
    `lease_holder`: the worker that delivers, until `lease_until`. `failures`: how many tries failed in a row.
    `shown`: the address, masked. Address and secret are encrypted.
    """

    kind = models.PositiveSmallIntegerField(choices=WebhookKind, default=WebhookKind.JSON)
    sealed_url = models.TextField(editable=False)
    sealed_secret = models.TextField(editable=False)
    shown = models.CharField("address", max_length=300, editable=False)
    nouns = models.JSONField(default=list, blank=True)
    verbs = models.JSONField(default=list, blank=True)
    priority = models.JSONField(default=list, blank=True)
    is_active = models.BooleanField("active", default=True)
    cursor = models.BigIntegerField(default=0, editable=False)
    failures = models.PositiveIntegerField(default=0, editable=False)
    off_because = models.CharField(max_length=300, blank=True, default="", editable=False)
    off_at = models.DateTimeField(null=True, blank=True, editable=False)
    lease_holder = models.CharField(max_length=32, blank=True, default="", editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta(ProjectRow.Meta):
        indexes = (models.Index(fields=("project", "-created_at"), name="core_webhook_newest"),)

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.shown}"

    @property
    def ref(self) -> str:
        return f"webhook:{self.pk}"

    @property
    def state(self) -> str:
        if self.is_active:
            return "failing" if self.failures else "active"
        return "switched off" if self.off_at else "inactive"


class WebhookDelivery(ProjectRow):
    """What was sent, or is to be sent again: of an event, of several at once, or a test (no event).

    `first_id`, `event_id`: the first and the last of its `events`. `is_aside`: it does not keep the order: a
    test, or a dead one that a person sends again. `answer`: the first KiB of the last answer.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event_id = models.BigIntegerField(null=True, editable=False)
    first_id = models.BigIntegerField(null=True, editable=False)
    events = models.PositiveIntegerField(default=1, editable=False)
    status = models.PositiveSmallIntegerField(choices=DeliveryStatus, default=DeliveryStatus.WAITING)
    is_aside = models.BooleanField(default=False)
    tries = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    code = models.PositiveSmallIntegerField(null=True)
    answer = models.TextField(blank=True, default="")
    problem = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField()
    tried_at = models.DateTimeField(null=True)

    class Meta(ProjectRow.Meta):
        verbose_name_plural = "webhook deliveries"
        constraints = (
            models.UniqueConstraint(fields=("webhook", "event_id"), name="core_one_delivery_per_event"),
        )
        indexes = (
            models.Index(fields=("webhook", "-id"), name="core_delivery_newest"),
            models.Index(fields=("project", "created_at"), name="core_delivery_oldest"),
            models.Index(
                fields=("webhook", "next_at"), condition=models.Q(status=1), name="core_delivery_waiting"
            ),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def key(self) -> str:
        """Names the delivery for the receiver; each try has the same."""
        of = f"t{self.pk}" if self.event_id is None else f"e{self.event_id}"
        return f"w{self.webhook_id}-{of}"
