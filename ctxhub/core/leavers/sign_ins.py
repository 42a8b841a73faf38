"""The sign-ins of people: sessions of Django, which say whose they are only once they are decoded."""

from collections.abc import Iterator

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AbstractBaseUser

from ctxhub.core.kit import clock


def count_sign_ins(user: AbstractBaseUser) -> int:
    return sum(1 for _ in _keys(user))


def end_sign_ins(user: AbstractBaseUser) -> int:
    """End them in all browsers, in the transaction of the caller; return how many there were."""
    from django.contrib.sessions.models import Session  # An app that only a process with pages has.

    keys = list(_keys(user))
    Session.objects.filter(session_key__in=keys).delete()
    return len(keys)


def _keys(user: AbstractBaseUser) -> Iterator[str]:
    from django.contrib.sessions.models import Session

    for session in Session.objects.filter(expire_date__gt=clock.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            yield session.session_key
