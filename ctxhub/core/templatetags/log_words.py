"""A template filter for the verbs of the log."""

from django import template

from ctxhub.core.events.words import action_word

register = template.Library()
register.filter(action_word)
