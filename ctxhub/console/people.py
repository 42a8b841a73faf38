"""The admin of accounts, for superusers. An account can sign in; its memberships say what it may do."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldBooleanSwitchWidget

from ctxhub.console.base import Menu
from ctxhub.console.columns import column
from ctxhub.console.rows.admin import RowsAdmin
from ctxhub.console.unfold_compat import DropdownFilter, ModelForm, TabularInline, action
from ctxhub.console.usernames import limit_username, refuse_namesakes, refuse_new_namesake
from ctxhub.core.accounts.people import is_superuser
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.leavers.leaving import deactivate_person, what_would_end, why_not_deactivated
from ctxhub.core.leavers.password_links import make_password_link
from ctxhub.core.models import Membership
from ctxhub.core.templatetags.moments import moment

admin.site.unregister(User)
# Groups and Django's permissions are not used: memberships grant access.
admin.site.unregister(Group)

SIGNS_IN = (
    "Staff can sign in here. They see only the projects they are members of. Whoever leaves is deactivated by"
    " the button at the top: to switch off Active leaves the tokens of projects that they made."
)


class SuperusersOnly(RowsAdmin):
    """An admin for superusers only: a person who can edit accounts could become a superuser."""

    # How rows come about, for a person who sees an empty list.
    when_empty: ClassVar[str] = ""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_superuser(request.user)

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission


class PersonCreationForm(UserCreationForm):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limit_username(self.fields["username"])

    is_staff = forms.BooleanField(
        label="Can sign in here",
        initial=True,
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=SIGNS_IN,
    )


class PersonForm(UserChangeForm):
    is_superuser = forms.BooleanField(
        label="Superuser",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="Can see and do everything in every project, and manage accounts and projects.",
    )

    def clean(self) -> dict[str, Any] | None:
        """A new name, and a new superuser's in every project, is no agent's: they would act as it."""
        cleaned: dict[str, Any] | None = super().clean()
        if {"username", "is_superuser"}.intersection(self.changed_data) and "username" in self.cleaned_data:
            limited = User(pk=self.instance.pk, is_superuser=self.cleaned_data.get("is_superuser", False))
            try:
                refuse_namesakes(limited, self.cleaned_data["username"])
            except forms.ValidationError as error:
                self.add_error("username", error)
        return cleaned


class MembershipForm(ModelForm):
    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        refuse_new_namesake(self)
        return cleaned


class MembershipInline(TabularInline):
    model = Membership
    form = MembershipForm
    extra = 0
    verbose_name = "project"
    verbose_name_plural = "Projects: viewers can read, members can read and write, admins can do everything"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_superuser(request.user)

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user", "project").order_by("project__slug")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        field: Any = super().formfield_for_foreignkey(db_field, request, **options)
        # A list is queried once for all rows; a queryset would be queried for each row.
        field.choices = list(field.choices)
        return field


class KindFilter(DropdownFilter):
    title = parameter_name = "kind"
    kinds: ClassVar[dict[str, Q]] = {
        "superuser": Q(is_superuser=True, is_active=True),
        "staff": Q(is_superuser=False, is_staff=True, is_active=True),
        "cannot sign in": Q(is_active=False) | Q(is_superuser=False, is_staff=False),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind, kind) for kind in self.kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(self.kinds.get(self.value() or "", Q()))


@admin.register(User)
class UserAdmin(DjangoUserAdmin, SuperusersOnly):  # type: ignore[type-arg]
    when_empty = "Accounts of people: a superuser adds one here, or an invitation makes it."
    menu = Menu("Access", "person")
    form = PersonForm
    add_form = PersonCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (MembershipInline,)

    list_display = ("username", "full_name", "belongs_to", "kind", "seen")
    list_filter = (KindFilter,)
    add_fieldsets = (
        (None, {"fields": ("username", "usable_password", "password1", "password2", "is_staff")}),
    )
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Name", {"fields": (("first_name", "last_name"), "email")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser"), "description": SIGNS_IN}),
    )
    readonly_fields = ("last_login", "date_joined")
    change_form_outer_before_template = "ctxhub/person_top.html"
    actions_detail = ("deactivate", "password_link")
    filter_horizontal = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("memberships__project")

    # -- Who leaves, and lost passwords ------------------------------------------------------------

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Sequence[Any]:
        """None in the bar on top, where phones hide them: the page itself has the buttons."""
        return []

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        user = self.get_object(request, unquote(object_id))
        acts = _acts(user, by=request.user) if user is not None else {}
        return super().change_view(request, object_id, form_url, {**acts, **(extra_context or {})})

    @action(description="Deactivate", icon="person_off", permissions=["view"], variant=ActionVariant.DANGER)
    def deactivate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Asks, and says what would end; ends it once confirmed."""
        if (user := self.get_object(request, object_id)) is None:
            return HttpResponseRedirect(reverse("admin:auth_user_changelist"))
        back = reverse("admin:auth_user_change", args=[user.pk])
        by: Any = request.user
        if why_not := why_not_deactivated(user, by=by):
            messages.error(request, why_not)
            return HttpResponseRedirect(back)
        if request.method != "POST" or "confirmed" not in request.POST:
            ends = what_would_end(user)
            return self._page(
                request, "ctxhub/deactivate_person.html", "Deactivate", user, ends=ends, back=back
            )
        ended = deactivate_person(user, by=by)
        self.log_change(request, user, f"Deactivated: {ended}.")
        messages.success(request, f"{user} is deactivated. Ended: {ended}. What was saved stays.")
        return HttpResponseRedirect(back)

    @action(
        description="Link for a new password", icon="key", permissions=["view"], variant=ActionVariant.DEFAULT
    )
    def password_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Asks, and answers the POST with the page of the link, so that it is in no URL or message."""
        if (user := self.get_object(request, object_id)) is None:
            return HttpResponseRedirect(reverse("admin:auth_user_changelist"))
        back = reverse("admin:auth_user_change", args=[user.pk])
        if not user.is_active:
            messages.error(request, f"{user} is deactivated: activate the account before.")
            return HttpResponseRedirect(back)
        if request.method != "POST" or "confirmed" not in request.POST:
            return self._page(
                request, "ctxhub/ask_password_link.html", "Link for a new password", user, back=back
            )
        by: Any = request.user
        new = make_password_link(user, by=by)
        self.log_change(request, user, "Made a link for a new password.")
        link = base_url(request.build_absolute_uri("/")) + reverse("password_link", args=[new.secret])
        title = "The link for a new password"
        shown = {"new": new, "link": link, "back": back, "back_to": user.get_username()}
        return self._page(request, "ctxhub/new_password_link.html", title, user, **shown)

    def _page(
        self, request: HttpRequest, template: str, title: str, person: User, **context: Any
    ) -> TemplateResponse:
        request.current_app = self.admin_site.name
        shown = {**self.admin_site.each_context(request), "title": title, "opts": self.opts, "person": person}
        return TemplateResponse(request, template, {**shown, **context})

    # -- Columns -----------------------------------------------------------------------------------

    full_name = column("Name", lambda user: user.get_full_name())

    @display(description="Projects")
    def belongs_to(self, user: Any) -> SafeString | str:
        if user.is_superuser:
            return "all"
        memberships = sorted(user.memberships.all(), key=lambda each: each.project.slug)
        return format_html_join(
            " ",
            '<a class="ctx-chip" href="{}">{} ({})</a>',
            (
                (
                    reverse("admin:core_project_change", args=[each.project_id]),
                    each.project,
                    each.get_role_display(),
                )
                for each in memberships
            ),
        ) or format_html('<span class="ctx-quiet">{}</span>', "none yet")

    @display(description="Kind", label={"superuser": "primary", "staff": "info", "cannot sign in": "warning"})
    def kind(self, user: User) -> str:
        if user.is_superuser and user.is_active:
            return "superuser"
        return "staff" if user.is_staff and user.is_active else "cannot sign in"

    seen = column("Last sign-in", lambda user: moment(user.last_login), ordering="last_login")


def _acts(user: User, *, by: Any) -> dict[str, str]:
    """The addresses of what the page of a person offers. Who was made inactive may have tokens left."""
    acts = {}
    if user.is_active:
        acts["password_link_url"] = reverse("admin:auth_user_password_link", args=[user.pk])
    if (user.is_active or what_would_end(user).tokens) and not why_not_deactivated(user, by=by):
        acts["deactivate_url"] = reverse("admin:auth_user_deactivate", args=[user.pk])
    return acts
