"""The usernames that forms accept: a person acts as the agent of that name."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator

from ctxhub.core.accounts.people import check_username
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.kit.inputs import WORD_LENGTH

ASK = "An invitation asks them for one."


def limit_username(field: Any) -> None:
    """Take no more characters than the name of an agent has."""
    field.widget.attrs["maxlength"] = WORD_LENGTH
    field.max_length = WORD_LENGTH
    field.validators = [*field.validators, MaxLengthValidator(WORD_LENGTH)]


def refuse_new_namesake(form: Any) -> None:
    """Add an error to the form of a new membership if an agent of the project has the name of the person."""
    user, project = form.cleaned_data.get("user"), form.cleaned_data.get("project") or form.instance.project
    if form.instance.pk or user is None or project is None or project.pk is None:
        return
    try:
        refuse_namesakes(user, user.get_username(), joins=[project.pk])
    except forms.ValidationError as error:
        form.add_error(None, forms.ValidationError(f"{error.message} {ASK}"))


def refuse_namesakes(user: User, username: str, **joins: Any) -> None:
    """Raise ValidationError if the person would act as an agent of one of their projects."""
    try:
        check_username(user, username, **joins)
    except Conflict as error:
        raise forms.ValidationError(error.message) from error
