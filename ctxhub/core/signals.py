"""What must happen whoever writes."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from ctxhub.core.models import AccessToken, Membership
from ctxhub.core.services.access_tokens import forget_tokens


@receiver([post_save, post_delete], sender=AccessToken)
@receiver([post_save, post_delete], sender=Membership)
def forget_verified_tokens(**_: Any) -> None:
    """A revoked token ends at once in this process."""
    forget_tokens()
