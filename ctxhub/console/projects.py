"""The admin of projects and their members."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminTextInputWidget

from ctxhub.console.access import access_of
from ctxhub.console.base import Menu, ProjectAdmin, person
from ctxhub.console.columns import column
from ctxhub.console.config_form import ConfigForm, config_fieldsets, config_help_texts
from ctxhub.console.rows.row_view import RowParts
from ctxhub.console.unfold_compat import ModelForm, TabularInline, action
from ctxhub.console.urls import in_project
from ctxhub.console.usernames import refuse_new_namesake
from ctxhub.core.accounts.config import set_config
from ctxhub.core.accounts.people import is_superuser
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.models import Membership, Project
from ctxhub.core.project_deletion import delete_project
from ctxhub.core.templatetags.moments import moment


class ProjectForm(ConfigForm):
    slug = forms.CharField(
        widget=UnfoldAdminTextInputWidget,
        help_text="Letters, digits, '-' and '_'. It cannot be changed later: clients and URLs use it.",
    )
    name = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self.instance.pk:
            self.initial.update(slug=self.instance.slug, name=self.instance.name)
            self.fields["slug"].disabled = True


class MembershipForm(ModelForm):
    """Takes the username as text, so that a project's admin does not see the hub's other accounts."""

    user = forms.ModelChoiceField(
        queryset=get_user_model()._default_manager.all(),
        to_field_name="username",
        label="Username",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        error_messages={"invalid_choice": "There is no account with this name. Invite the person instead."},
    )

    class Meta:
        model = Membership
        fields = ("user", "role")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        refuse_new_namesake(self)
        return cleaned

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():  # The heading of a column labels nothing for a screen reader.
            field.widget.attrs["aria-label"] = field.label
        if self.instance.pk:
            self.initial["user"] = self.instance.user.get_username()
            self.fields["user"].disabled = True


class MembershipInline(TabularInline):
    model = Membership
    form = MembershipForm
    extra = 0
    verbose_name = "member"
    verbose_name_plural = "Members: viewers can read, members can read and write, admins can do everything"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        rows = super().get_queryset(request)
        return rows.select_related("user", "project").order_by("user__username")

    def has_view_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return access_of(request).may(ADMIN, obj.pk if obj else None)

    has_add_permission = has_change_permission = has_delete_permission = has_view_permission


@admin.register(Project)
class ProjectsAdmin(ProjectAdmin):
    menu = Menu("Access", "folder_managed")
    when_empty = (
        "What one team shares, apart from all others: a superuser adds a project here, and its admins"
        " invite people."
    )
    change_scope = ADMIN
    project_lookup = "pk"
    adds_to_project = False
    form = ProjectForm
    inlines = (MembershipInline,)
    actions_detail = ("invite",)

    list_display = ("slug", "name", "members", "decisions_link", "created")
    row_parts = RowParts(text="name")
    search_fields = ("slug", "name")

    def project_of(self, row: Project) -> Project:
        return row

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        rows: QuerySet[Project] = super().get_queryset(request).annotate(member_count=Count("memberships"))
        return rows

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        may_change = self.has_change_permission(request, obj)
        return [(None, {"fields": ["slug", "name"]}), *config_fieldsets(obj, may_change=may_change)]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """With the help texts of the settings, which read-only fields take from the form's options."""
        return super().get_form(request, obj, change=change, help_texts=config_help_texts(), **kwargs)

    # Only superusers add and delete projects.

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_superuser(request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_superuser(request.user)

    def has_invite_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        project_id = read_id(object_id) if object_id else None
        return project_id is not None and access_of(request).may(ADMIN, project_id)

    @action(description="Invite", icon="person_add", permissions=["invite"], variant=ActionVariant.DEFAULT)
    def invite(self, request: HttpRequest, object_id: str) -> HttpResponse:
        project = access_of(request).projects[int(object_id)]
        return HttpResponseRedirect(in_project(reverse("admin:core_invitation_add"), project))

    @display(description="Members", ordering="member_count")
    def members(self, project: Any) -> int:
        count: int = project.member_count
        return count

    created = column("Created", lambda project: moment(project.created_at), ordering="created_at")

    @display(description="Go to")
    def decisions_link(self, project: Project) -> SafeString:
        return format_html(
            '<a class="ctx-link" href="{}?project={}">Overview</a>', reverse("admin:index"), project.slug
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        name = form.cleaned_data["name"]
        if change:
            obj.name = name
            obj.save(update_fields=["name"])
            if values := form.config_values():
                set_config(caller=person(), values=values)
        else:
            obj.pk = create_project(slug=form.cleaned_data["slug"], name=name).pk
            obj.refresh_from_db()

    def delete_model(self, request: HttpRequest, obj: Project) -> None:
        delete_project(obj)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Adds the row counts of every model to the confirmation: they are deleted with the project."""
        projects = list(objs)
        lines, counts, forbidden, protected = super().get_deleted_objects(projects, request)
        counts |= {
            str(model._meta.verbose_name_plural): count for model, count in _row_counts(projects) if count
        }
        return lines, counts, forbidden, protected


def _row_counts(projects: Sequence[Project]) -> Iterator[tuple[type[Model], int]]:
    """Each model of any app with a foreign key to Project, and its number of rows in these projects."""
    for field in Project._meta.get_fields(include_hidden=True):
        model = field.related_model
        if field.auto_created and field.one_to_many and isinstance(model, type):
            yield model, model._base_manager.filter(project__in=projects).count()
