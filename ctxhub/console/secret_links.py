"""What the pages of links with a secret share: they are not kept, and nobody can try secrets."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers

from ctxhub.core.accounts.sign_in import count_attempt, refuse_after_failure
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.frozen import frozen


@frozen
class SecretLink:
    """A kind of link. `page`: the URL name where it leads, without the secret.

    `attempt`: under which name failures are counted. `title` and `closed`: title and heading of the page that
    refuses a link; `unknown`: its words for a secret that the hub does not know.
    """

    page: str
    attempt: str
    title: str
    closed: str
    unknown: str

    def follow(self) -> HttpResponse:
        """Lead to the page, once the secret is remembered in the session."""
        return private(HttpResponseRedirect(reverse(self.page)), "no-referrer")

    def refuse(self, request: HttpRequest, reason: str, status: int = 410) -> HttpResponse:
        words = {"title": self.title, "heading": self.closed, "reason": reason}
        return private(render(request, "ctxhub/link_closed.html", words, status=status))

    def refuse_unknown(self, request: HttpRequest) -> HttpResponse:
        """Counts as a failed sign-in from the address."""
        attempt = {"name": self.attempt, "address": request.META.get("REMOTE_ADDR", "")}
        try:
            count_attempt(**attempt)
            refuse_after_failure(**attempt)
        except LimitReached as error:
            return self.refuse(request, error.message, status=429)
        return self.refuse(request, self.unknown, status=404)


def private(response: HttpResponse, referrer: str = "same-origin") -> HttpResponse:
    """Neither kept by caches nor told to other sites."""
    add_never_cache_headers(response)
    response.headers["Referrer-Policy"] = referrer
    return response
