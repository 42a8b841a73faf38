"""REST methods that are declared: by what they take, and by what they answer.

    class ConstraintViewSet(ProjectViewSet):
        list = lists(takes("constraint", "list"), ListedConstraint, says="Constraints, newest first.")

A method runs the action whose arguments it takes, with what the address holds (`at`). `by` names what it runs
instead: a selector, which gets the id of the project, or a service, which gets the caller, and each the
arguments of the address by their names. `says` is the description in OpenAPI; further keywords are those of
`extend_schema`. What has another shape is a method of its own, below `@operation`.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.hub.partial_reads import Opened, Reading
from ctxhub.core.kit.listing import Listing, with_arrays
from ctxhub.rest.answers import in_parts, named, page_of
from ctxhub.rest.pages import Page
from ctxhub.rest.takes import NOTHING, READ_IN_PARTS, Takes
from ctxhub.rest.views import ProjectViewSet

MethodT = TypeVar("MethodT", bound=Callable[..., Any])
Method = Callable[..., Response]
Run = Callable[..., Any]

# The statuses of a write; where there are two, the second one says that the result is `created`.
OK, CREATED, CREATED_OR_FOUND = (200,), (201,), (200, 201)


def operation(
    *, query: Takes | None = None, body: Takes | None = None, says: str = "", **schema: Any
) -> Callable[[MethodT], MethodT]:
    """Declare what a method takes and answers; its view adds it to `queries` and `bodies`."""

    def declare(method: MethodT) -> MethodT:
        if says:
            method.__doc__ = says
        vars(method).update(in_query=query, in_body=body)
        declared: MethodT = extend_schema(**schema)(method)
        return declared

    return declare


# -- Reads -----------------------------------------------------------------------------------------


def shows(
    taken: Takes,
    answer: Any = None,
    *,
    says: str,
    by: Run | None = None,
    of_caller: Run | None = None,
    **schema: Any,
) -> Method:
    """What a read answers: a list as a page, an opened object whole or in part, anything else as it is.

    `of_caller`: a selector that gets the caller, and of the address what the action would get.
    """

    @operation(query=taken, says=says, responses={200: answer or taken.answer}, **schema)
    def show(view: ProjectViewSet, request: Request, slug: str, **where: Any) -> Response:
        if by:
            found = by(view.project_id, **where, **view.query)
        elif of_caller:
            found = of_caller(view.caller, **taken.in_address(where), **view.query)
        else:
            found = taken.run(caller=view.caller, **taken.in_address(where), **view.query)
        if isinstance(found, Listing):
            return view.listed(Page.of(found))
        return Response(view.opened(*found.objects) if isinstance(found, Reading) else with_arrays(found))

    return show


def lists(
    taken: Takes, row: Any, *, says: str, orders: tuple[Iterable[str], str] | None = None, **how: Any
) -> Method:
    """A page of rows. `orders`: the fields of `ordering`, which the selector takes, and the list's own."""
    return shows(taken.ordered_by(*orders) if orders else taken, page_of(row), says=says, **how)


def reads(shape: Any, *, says: str, text: str = "", kind: str = "") -> Method:
    """One object, the `item` of the view: whole, or some lines of its `text`."""

    @operation(query=READ_IN_PARTS if text else None, says=says, responses=in_parts(shape) if text else shape)
    def read(view: ProjectViewSet, request: Request, slug: str, **where: Any) -> Response:
        requested = view.requested_lines() if text else None
        return Response(view.opened(Opened(view.item(*where.values()), text, requested, kind)))

    return read


# -- Writes ----------------------------------------------------------------------------------------


def _sends(
    write: Callable[..., dict[str, Any]],
    taken: Takes,
    answer: Any = None,
    *,
    says: str,
    statuses: tuple[int, ...] = OK,
    by: Run | None = None,
    of: str = "",
    **schema: Any,
) -> Method:
    """`of`: the kind of the object in the address, whose id and ref the answer begins with."""
    shape = answer or taken.answer
    shape = named(shape) if of else shape

    @operation(body=taken, says=says, responses=dict.fromkeys(statuses, shape), **schema)
    def send(view: ProjectViewSet, request: Request, slug: str, **where: Any) -> Response:
        written = write(view, by or taken.run, **_arguments(view, taken, by, where, view.body))
        if of:
            row_id = next(iter(where.values()))
            written = {"id": row_id, "ref": f"{of}:{row_id}", **written}
        status = statuses[-1] if written.get("result") == "created" else statuses[0]
        return Response(written, status=status, headers=view.headers_of(written))

    return send


# A write: what the action answers, or that together with the stored `item` of the view.
performs = partial(_sends, ProjectViewSet.perform)
writes = partial(_sends, ProjectViewSet.write)


def deletes(taken: Takes = NOTHING, *, says: str, by: Run | None = None, **schema: Any) -> Method:
    """A write that leaves nothing to answer."""

    @operation(query=taken, says=says, responses={204: None}, **schema)
    def delete(view: ProjectViewSet, request: Request, slug: str, **where: Any) -> Response:
        view.perform(by or taken.run, **_arguments(view, taken, by, where, view.query))
        return Response(status=204)

    return delete


def _arguments(
    view: ProjectViewSet, taken: Takes, by: Run | None, where: dict[str, Any], given: dict[str, Any]
) -> dict[str, Any]:
    return view.expecting({**(where if by else taken.in_address(where)), **given})
