"""Tells the work of an agent in a sentence: 3 decisions (bundle 180 > 160), 13 files in web/, 1 refusal."""

from collections.abc import Iterator, Mapping, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ctxhub.console.away.sources import Details, Kind
from ctxhub.console.away.work import Work
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted
from ctxhub.core.text.sentences import in_one_line, shortened

PARTS_TOLD = 4
WORD_SHOWN, PATH_SHOWN = 32, 48
NOTHING: Sequence[str] = ()


@frozen
class Part:
    """`count`: how much it stands for where it is left out. Of a higher `weight` it is told in any case."""

    html: SafeString | str
    count: int
    weight: float


def sentence_of(work: Work, kinds: Sequence[Kind], details: Mapping[str, Details]) -> SafeString:
    """`details`: by noun."""
    parts = list(_parts(work, kinds, details))
    told = sorted(parts, key=lambda part: -part.weight)[:PARTS_TOLD]
    left_out = sum(part.count for part in parts if part not in told)
    sentence = format_html_join(", ", "{}", ((part.html,) for part in parts if part in told))
    return format_html("{} and {} more", sentence, f"{left_out:,}") if left_out else sentence


def _parts(work: Work, kinds: Sequence[Kind], details: Mapping[str, Details]) -> Iterator[Part]:
    for kind in kinds:
        if objects := work.objects.get(kind.noun):
            words = details.get(kind.noun, {}).get(work.key, NOTHING)
            place = kind.within(objects.first, objects.last) if kind.within else ""
            number = counted(objects.count, kind.plural)
            yield Part(
                format_html("{}{}{}", number, _place(place, objects.count), _in_brackets(words)),
                objects.count,
                -kind.place,
            )
    if work.others:
        yield Part(counted(work.others, "other events"), work.others, float("-inf"))
    if work.refusals:
        yield Part(counted(work.refusals, "refusals"), work.refusals, 1)
    if work.waiting:
        waits = "waits for you" if work.waiting == 1 else f"waits for you {work.waiting:,} times"
        yield Part(format_html("<strong>{}</strong>", waits), work.waiting, 2)


def _place(path: str, count: int) -> SafeString | str:
    if not path:
        return ""
    form = ' in <bdi class="ctx-mono">{}</bdi>' if count > 1 else ' (<bdi class="ctx-mono">{}</bdi>)'
    return format_html(form, _cut(path, PATH_SHOWN))


def _in_brackets(words: Sequence[str]) -> SafeString | str:
    """Each word stands by itself, whichever direction it is written in."""
    if not words:
        return ""
    shown = format_html_join(" ", "<bdi>{}</bdi>", ((_cut(word, WORD_SHOWN),) for word in words))
    return format_html(" ({})", shown)


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)
