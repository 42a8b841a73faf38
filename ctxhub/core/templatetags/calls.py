"""A template filter for sentences that name calls."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def with_calls(sentence: str) -> SafeString:
    """A sentence, escaped, in which what stands between `backticks` is code."""
    parts = enumerate(sentence.split("`"))
    return format_html_join("", "{}{}{}", (_marked(part, is_call=n % 2 == 1) for n, part in parts))


def _marked(part: str, *, is_call: bool) -> tuple[SafeString | str, str, SafeString | str]:
    return (CODE, part, CODE_END) if is_call else ("", part, "")


CODE, CODE_END = SafeString('<code class="ctx-mono">'), SafeString("</code>")
