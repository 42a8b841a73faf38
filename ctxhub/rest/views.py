"""Base classes of REST views: authorization, arguments, pages, idempotency keys."""

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt
from django_filters import FilterSet
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from ctxhub.core.accounts.agents import touch_agent
from ctxhub.core.accounts.names_of_people import refuse_name_of_person
from ctxhub.core.given import give_opened
from ctxhub.core.hub.partial_reads import Excerpt, Opened, RequestedLines, clean_requested_lines
from ctxhub.core.kit.answers import MAX_TOKENS, size
from ctxhub.core.kit.batches import in_batches
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller, acting
from ctxhub.core.kit.errors import InvalidInput, NotFound, unknown_word
from ctxhub.core.kit.headers import header_text
from ctxhub.core.kit.listing import with_arrays
from ctxhub.core.kit.newer_schema import refuse_older_schema
from ctxhub.core.kit.read_limit import limited_read
from ctxhub.core.kit.served import identified
from ctxhub.core.kit.tool_names import naming_addresses
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use.tally import Call
from ctxhub.core.vocabulary.queries import unknown_names
from ctxhub.rest.addresses import address_of
from ctxhub.rest.answers import with_author
from ctxhub.rest.authentication import RATE
from ctxhub.rest.ids import ids_of_refs
from ctxhub.rest.methods import untaken
from ctxhub.rest.pages import CursorPages, Page
from ctxhub.rest.plain_text import NamedFormat
from ctxhub.rest.preferences import MINIMAL, REPRESENTATION, applied, preferred
from ctxhub.rest.problems import invalid_filter
from ctxhub.rest.project import caller_in, in_session, speaking
from ctxhub.rest.takes import NOTHING, Takes
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.common_arguments import AGENT, EXACT, SECRET
from ctxhub.toolbox.dispatch import clean_max_tokens
from ctxhub.toolbox.stored_answers import answer_once, find_answer

AnswerT = TypeVar("AnswerT")

SCOPE_OF_METHOD = {"POST": WRITE, "PUT": WRITE, "PATCH": WRITE, "DELETE": ADMIN}
RETRY_HEADER = "Idempotency-Key"
_ARGUMENT, _BRACES = re.compile(r"<(?:\w+:)?(\w+)>"), r"{\1}"


def _declared(view: type, place: str) -> dict[str, Takes]:
    """What the operations of a view take `in_query` or `in_body`."""
    taken = {name: getattr(member, place, None) for name, member in vars(view).items()}
    return {name: takes for name, takes in taken.items() if takes}


class Example(BaseSerializer[Any]):
    """A body to start from, as the browsable API wants it."""

    fields: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, example: Mapping[str, Any]) -> None:
        super().__init__()
        self.example = example

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.example)


class HubViewSet(GenericViewSet[Any]):
    """Checks query and body against what the action declares; answers pages.

    `queries` and `bodies` say what each action takes, as `@operation` declares it; `self.query` and
    `self.body` hold what was given.
    `filters`: for lists that are querysets, what filters and orders them; see `filtered`.
    `instead`: for methods that the address of one object does not take, what to do instead.
    """

    http_method_names = ["get", "post", "put", "patch", "delete", "head"]
    pagination_class = CursorPages
    content_negotiation_class = NamedFormat
    queries: ClassVar[Mapping[str, Takes]] = {}
    bodies: ClassVar[Mapping[str, Takes]] = {}
    common_parameters: ClassVar[tuple[str, ...]] = ("format",)
    filters: ClassVar[Mapping[str, type[FilterSet]]] = {}
    instead: ClassVar[Mapping[str, str]] = {}
    has_versions = False
    names_tools: ClassVar[bool] = False  # In hints, instead of addresses.
    has_authors: ClassVar[bool] = False  # Whether the agent of an item is who wrote it.

    query: dict[str, Any]
    body: dict[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.queries = {**cls.queries, **_declared(cls, "in_query")}
        cls.bodies = {**cls.bodies, **_declared(cls, "in_body")}

    @property
    def filterset_class(self) -> type[FilterSet] | None:
        return self.filters.get(self.action)

    def filtered(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows that pass the filters of the action, in the order that the query asks for."""
        assert self.filterset_class
        query = self.request.query_params
        for name in self.filterset_class.base_filters:
            if len(query.getlist(name)) > 1:
                raise InvalidInput(f"{name} is given more than once.")
        filters = self.filterset_class(query, rows, request=self.request)
        if not filters.is_valid():
            raise invalid_filter(filters.form)
        return filters.qs

    def get_serializer(self, *args: Any, **kwargs: Any) -> "Example":
        """What the API's pages fill their form with."""
        return Example(self.bodies.get(self.action, NOTHING).example)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with ExitStack() as self._during:
            if not self.names_tools:
                self._during.enter_context(naming_addresses(address_of))
            return super().dispatch(request, *args, **kwargs)

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        if "Transfer-Encoding" in request.headers:
            # A body in chunks has no length, and one without a length would not be read.
            request.META.setdefault("CONTENT_LENGTH", "-1")
        return super().initialize_request(request, *args, **kwargs)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        try:
            return super().perform_content_negotiation(request, force)
        except Http404:
            known = [renderer.format for renderer in self.get_renderers() if renderer.format]
            raise unknown_word("format", request.query_params.get("format"), known) from None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method not in self.allowed_methods:
            self._refuse_method(request, **kwargs)
        refuse_older_schema()
        super().initial(request, *args, **kwargs)
        self.check_place(request, **kwargs)
        self.kwargs.update(ids_of_refs(kwargs))  # The action is called with these.
        takes = self.queries.get(self.action, NOTHING)
        filters = self.filterset_class.base_filters if self.filterset_class else ()
        self.query = takes.read_query(request.query_params, also=(*filters, *self.common_parameters))
        self.max_tokens = clean_max_tokens(self.query.pop("max_tokens", MAX_TOKENS))
        self.body = self._read_body(request) if self.action in self.bodies else {}
        self.refuse_what_would_be_ignored(request)

    def _refuse_method(self, request: Request, **kwargs: Any) -> None:
        """Raise UntakenMethod before other errors. A browser gets it as a page that shows the user."""
        self.format_kwarg = self.get_format_suffix(**kwargs)
        with suppress(APIException):
            self.perform_authentication(request)
        is_of_one = "retrieve" in self.action_map.values()
        raise untaken(
            str(request.method), self.allowed_methods, request.path_info, self.instead if is_of_one else {}
        )

    def refuse_what_would_be_ignored(self, request: Request) -> None:
        """Refuse a condition or a body that the view would ignore, since the client relies on it."""
        if request.method in SAFE_METHODS:
            return
        if "If-None-Match" in request.headers or ("If-Match" in request.headers and not self.has_versions):
            raise InvalidInput("Conditions are not heeded here.", hint="Where expected_version is, use that.")
        if request.method == "DELETE" and request.data:
            raise InvalidInput("DELETE takes no body.", hint="The version goes into If-Match.")

    def check_place(self, request: Request, **where: Any) -> None:
        """Check whether the caller may call the action. Runs before arguments are parsed."""

    def act_as(self, caller: Caller) -> Caller:
        """Make `caller` the current caller until the response is complete.

        Raises NotAllowed for an agent with the name of a person.
        """
        refuse_name_of_person(caller)
        self.caller = caller
        self._during.enter_context(acting(caller))
        return caller

    def listed(self, page: Page, *, whole: bool = False) -> Response:
        page = replace(page, items=[self.shown(item) for item in page.items])
        return CursorPages().answer(page, self.request, None if whole else self.max_tokens)

    def shown(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """An item as REST shows it: with its author as `by`, too."""
        return with_author(item) if self.has_authors else dict(item)

    def requested_lines(self) -> RequestedLines | None:
        """The part of a long text that the query requests by `lines` or `tail`."""
        return clean_requested_lines(self.query.pop("lines", None), self.query.pop("tail", None))

    def opened(self, thing: Opened | Excerpt, *, within: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The whole item, since a client may change it and PUT it back; with a part or a budget, cut to fit.

        `within`: the rest of the response.
        """
        thing = replace(thing, item=self.shown(with_arrays(thing.item)))
        is_part = "max_tokens" in self.request.query_params or (
            isinstance(thing, Opened) and thing.requested is not None
        )
        item = thing.within(self.max_tokens - size(within or {})) if is_part else thing.item
        give_opened(self.caller, [thing], item)
        return item

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        if response.status_code < 400 and hasattr(self, "caller"):
            touch_agent(self.caller)
        for name, value in getattr(request._request, RATE, {}).items():
            response.headers.setdefault(name, value)
        if response.status_code == 404 and _is_for_browsers(request):
            # What is not there is told in JSON whatever is asked for: programs that want a page look for it.
            request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
        return super().finalize_response(request, response, *args, **kwargs)

    def _read_body(self, request: Request) -> dict[str, Any]:
        common = self.common_fields(self.action, str(request.method))
        return self.bodies[self.action].read_body(request.data, common=common)

    @classmethod
    def common_fields(cls, _action: str, _method: str) -> tuple[Argument, ...]:
        """What a body may have besides the arguments of the action."""
        return ()


class ProjectViewSet(HubViewSet):
    """A view below `/api/v1/projects/{slug}/`: `self.caller` asks there, with the scope the action needs.

    `scopes` names it where the method does not: GET reads, DELETE is an administrator's, the rest writes.
    `for_readers`: what a signed-in person who may read does some of, too; the service checks which.
    `item`: the stored object of an id or a name, which reads open and writes answer with; `named_by`: where
    the answer of a write has that id or name; `kind`: that of the object, for its ref.
    """

    common_parameters = (AGENT.name, *HubViewSet.common_parameters)
    has_authors = True
    scopes: ClassVar[Mapping[str, str | None]] = {}
    for_readers: ClassVar[Collection[str]] = ()
    named_by: ClassVar[str] = "id"
    kind: ClassVar[str] = ""
    item: ClassVar[Callable[..., dict[str, Any]]]

    preference: Mapping[str, str] = MappingProxyType({})  # The header that says what was followed.

    @classmethod
    def scope_of(cls, action: str, method: str) -> str | None:
        """The scope that the action needs; None if it checks that itself."""
        return cls.scopes.get(action, SCOPE_OF_METHOD.get(method, READ))

    @property
    def project_id(self) -> int:
        return self.caller.project_id

    def check_place(self, request: Request, **where: Any) -> None:
        self.caller = caller_in(request, where["slug"])
        scope = self.scope_of(self.action, request.method or "")
        if scope and not (self.action in self.for_readers and self.caller.is_reader):
            self.caller.require(scope, f"{request.method} {request.path}")
        body = request.data if request.method in ("POST", "PUT", "PATCH") else None
        caller = in_session(speaking(self.caller, request, body=body), request)
        self.act_as(caller.for_call(allow_secret=False))
        call = Call(self.caller, self._counted_as(), writes=request.method not in SAFE_METHODS)
        self.call = self._during.enter_context(call)
        if self.scope_of(self.action, request.method or "") == READ:
            self._during.enter_context(limited_read(f"{request.method} {request.path}"))

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        said = [given.pop(EXACT.name, False) for given in (self.query, self.body)]
        if any(said):
            self.act_as(self.caller.with_exact_paths())

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        response = super().finalize_response(request, response, *args, **kwargs)
        for name, value in self.preference.items() if response.status_code < 400 else ():
            response.headers[name] = value
        if hasattr(self, "call") and isinstance(response, Response):
            response.add_post_render_callback(self._count)
        return response

    def listed(self, page: Page, *, whole: bool = False) -> Response:
        if not page.items:
            unknown = unknown_names(self.project_id, self._filters())
            page = replace(page, extra={**unknown, **page.extra})
        return super().listed(page, whole=whole)

    def _filters(self) -> dict[str, Any]:
        """What was given to the list, but for what is chosen from fixed words."""
        query, body = (takes.get(self.action, NOTHING).arguments for takes in (self.queries, self.bodies))
        return {**query.filters_in(self.query), **body.filters_in(self.body)}

    def write(self, service: Callable[..., Mapping[str, Any]], **arguments: Any) -> dict[str, Any]:
        """The answer of a service, once: of PUT and PATCH with the stored item, of POST if that is preferred.

        A token that only writes gets what changed.
        """
        return self._written(service, is_whole=self.request.method != "POST", **arguments)

    def _written(
        self, service: Callable[..., Mapping[str, Any]], *, is_whole: bool, **arguments: Any
    ) -> dict[str, Any]:
        """What a write answers, once: id and ref, what changed, and the item. `is_whole`: also without a
        preference for it.
        """
        preference = preferred(self.request)
        is_whole = preference == REPRESENTATION or (is_whole and preference != MINIMAL)
        is_whole = is_whole and self.caller.may(READ)
        self.preference = applied(preference, is_whole=is_whole)

        def answer() -> dict[str, Any]:
            written = service(caller=self.caller, **arguments)
            named = written[self.named_by]
            names = {"ref": f"{self.kind}:{named}", **({"id": named} if isinstance(named, int) else {})}
            return {**names, **written, **(self.shown(self.item(named)) if is_whole else {})}

        return self.once(answer)

    def expecting(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a write, with the version that the request expects where the view has versions."""
        return arguments

    def headers_of(self, answer: Mapping[str, Any]) -> dict[str, str]:
        """The headers of a write's answer: its version where the view has versions."""
        return {}

    def perform(self, service: Callable[..., AnswerT], **arguments: Any) -> AnswerT:
        """The answer of a service, once; of a POST that makes an object also its id and ref."""
        if self.request.method == "POST" and self.kind:
            return cast(AnswerT, self._written(service, is_whole=False, **arguments))  # type: ignore[arg-type]
        return self.once(lambda: service(caller=self.caller, **arguments))

    def once(self, write: Callable[[], AnswerT]) -> AnswerT:
        """The response of `write`; for a repeated Idempotency-Key, the stored response."""

        def run() -> AnswerT:
            answer: AnswerT = with_arrays(write())
            told = self.caller.told_of_kept()
            return cast(AnswerT, {**answer, **told}) if told and isinstance(answer, dict) else answer

        if not (key := request_key(self.request)):
            return in_batches(run)
        return answer_once(
            self.caller,
            key,
            run,
            operation=self._operation(),
            arguments=self._arguments(),
            name=RETRY_HEADER,
        )

    def answered_before(self) -> Any:
        """The stored response of a repeated Idempotency-Key; None if there is none yet."""
        if not (key := request_key(self.request)):
            return None
        return find_answer(
            self.caller, key, operation=self._operation(), arguments=self._arguments(), name=RETRY_HEADER
        )

    def _counted_as(self) -> str:
        """The operation of the tools that the action is, else its method and address."""
        takes = self.bodies.get(self.action) or self.queries.get(self.action) or NOTHING
        if takes.operation:
            return takes.operation
        match = self.request.resolver_match
        assert match
        return f"{self.request.method} {_ARGUMENT.sub(_BRACES, match.route.partition('>/')[2])}"

    def _count(self, response: Response) -> None:
        """Count the call with what was answered; a page for a browser has no tokens."""
        is_page = response.accepted_renderer.format == "api"
        tokens = 0 if is_page else count_tokens(response.content.decode())
        self.call.answered(tokens, is_error=response.status_code >= 400)

    def _operation(self) -> str:
        match = self.request.resolver_match
        assert match
        return f"{self.request.method} {match.route}"

    def _arguments(self) -> dict[str, Any]:
        """The arguments that two requests with the same key must share; agent and slug are left out."""
        query, body = self.request.query_params.lists(), self.request.data
        preference = {"prefer": said} if (said := preferred(self.request)) else {}
        return {
            **preference,
            "where": {name: value for name, value in self.kwargs.items() if name != "slug"},
            "query": {name: values for name, values in query if name not in self.common_parameters},
            "body": {n: v for n, v in body.items() if n != "agent"} if isinstance(body, Mapping) else body,
            "if_match": self.request.headers.get("If-Match"),
        }

    def _read_body(self, request: Request) -> dict[str, Any]:
        body = super()._read_body(request)
        body.pop(AGENT.name, None)
        if body.pop(SECRET.name, False):
            self.act_as(self.caller.for_call(allow_secret=True))
        return body

    @classmethod
    def common_fields(cls, _action: str, _method: str) -> tuple[Argument, ...]:
        """The agent who speaks, and in a write whether it stores what looks like a credential."""
        return (AGENT,) if cls.scope_of(_action, _method) == READ else (AGENT, SECRET)


def _is_for_browsers(request: Request) -> bool:
    return isinstance(getattr(request, "accepted_renderer", None), BrowsableAPIRenderer)


def request_key(request: Request) -> str:
    """The Idempotency-Key of a request; "": it has none."""
    return header_text(request.headers.get(RETRY_HEADER, ""))


@csrf_exempt
def unknown_address(request: HttpRequest) -> HttpResponse:
    """A JSON 404 for an unknown URL. A GET without the final slash is redirected to the URL with it."""
    missing_slash = not request.path.endswith("/") and _is_known(f"{request.path}/")
    if missing_slash and request.method in ("GET", "HEAD"):
        return HttpResponsePermanentRedirect(request.get_full_path(force_append_slash=True))
    hint = "End the address with a slash." if missing_slash else "/api/docs/ lists what there is."
    body = NotFound(f"There is no {request.path}.", hint=hint).body()
    return JsonResponse(identified(body), status=404)


def _is_known(path: str) -> bool:
    try:
        return resolve(path).func is not unknown_address
    except Resolver404:
        return False
