"""Unfold's classes. mypy sees Django's base classes: unfold's annotations contradict the Django stubs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeVar

    from django import forms
    from django.contrib import admin
    from django.contrib.admin.views.main import ChangeList
    from unfold.enums import ActionVariant

    F = TypeVar("F", bound=Callable[..., Any])

    ModelForm = forms.ModelForm[Any]
    TabularInline = admin.TabularInline[Any, Any]

    class ModelAdmin(admin.ModelAdmin[Any]):
        list_filter_submit: bool
        ordering_field: str | None
        hide_ordering_field: bool
        actions_detail: Sequence[str]
        add_fieldsets: Any

    class DropdownFilter(admin.SimpleListFilter): ...

    class TextFilter(admin.SimpleListFilter): ...

    def action(
        *, description: str, icon: str, permissions: Sequence[str], variant: ActionVariant
    ) -> Callable[[F], F]: ...

else:
    from django.forms import ModelForm
    from unfold.admin import ModelAdmin, TabularInline
    from unfold.contrib.filters.admin import DropdownFilter, TextFilter
    from unfold.decorators import action
    from unfold.views import ChangeList

__all__ = ["ChangeList", "DropdownFilter", "ModelAdmin", "ModelForm", "TabularInline", "TextFilter", "action"]
