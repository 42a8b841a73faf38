"""Links to the months and days of a list, in the current time zone.

Django's own date hierarchy calls a Python function for every row: 3 s for 200,000 events on SQLite.
"""

from collections import Counter
from datetime import date

from ctxhub.console.lists import FilteredList
from ctxhub.console.time_slots import count_by_day
from ctxhub.core.kit.frozen import frozen

LINKS_OFFERED = 31


@frozen
class DateLink:
    title: str
    url: str
    count: int = 0
    leads_back: bool = False


class DatedList(FilteredList):
    """A list whose `date_hierarchy` is a datetime field. Django filters the rows by the month or day."""

    def date_links(self) -> list[DateLink]:
        year, month, day = (self._chosen(part) for part in ("year", "month", "day"))
        if not year or not month:
            return [
                self._link(f"{at:%B %Y}", count, year=at.year, month=at.month)
                for at, count in self._counts(by_month=True)
            ]
        back = DateLink("All months", self._url(), leads_back=True)
        if day:
            back = DateLink(
                f"{date(year, month, 1):%B %Y}", self._url(year=year, month=month), leads_back=True
            )
        days = [
            self._link(f"{at:%a} {at.day}", count, year=year, month=month, day=at.day)
            for at, count in self._counts()
        ]
        return [back, *days]

    def _counts(self, by_month: bool = False) -> list[tuple[date, int]]:
        """The newest LINKS_OFFERED days or months with rows, newest first, each with its row count."""
        counts: Counter[date] = Counter()
        for day, rows in count_by_day(self.queryset, str(self.date_hierarchy)).items():
            counts[day.replace(day=1) if by_month else day] += rows
        return sorted(counts.items(), reverse=True)[:LINKS_OFFERED]

    def _chosen(self, part: str) -> int:
        chosen = str(self.params.get(f"{self.date_hierarchy}__{part}", ""))
        return int(chosen) if chosen.isdecimal() else 0

    def _link(self, title: str, count: int, **parts: int) -> DateLink:
        return DateLink(title, self._url(**parts), count)

    def _url(self, **parts: int) -> str:
        chosen = {f"{self.date_hierarchy}__{part}": value for part, value in parts.items()}
        return self.get_query_string(chosen, [f"{self.date_hierarchy}__"])
