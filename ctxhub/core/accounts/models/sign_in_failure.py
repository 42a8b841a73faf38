"""The model of failed sign-ins, counted for each name and address."""

from django.db import models


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
