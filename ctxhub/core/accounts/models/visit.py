"""The model of visits: when a person last looked at the admin, and when the time before."""

from django.conf import settings
from django.db import models


class Visit(models.Model):
    """The current visit of a person. `before_at`: the end of the visit before it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    last_at = models.DateTimeField()
    before_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"visit of {self.user_id}"
