"""Progress bars of commands: on a terminal, and nowhere else."""

from collections.abc import Callable

from tqdm import tqdm


class Progress:
    """A bar for each step of a command, on stderr. `total`: of the steps' lines or objects."""

    def __init__(self, total: int | None, unit: str) -> None:
        self._total, self._unit = total, unit
        self._step = ""
        self._bar: tqdm | None = None

    def __call__(self, step: str, count: int) -> None:
        if self._bar is None or step != self._step:
            self.close()
            # None: no bar where stderr is no terminal.
            self._bar = tqdm(total=self._total, desc=step, unit=f" {self._unit}", disable=None, leave=False)
            self._step = step
        self._bar.update(count)

    def of(self, step: str) -> Callable[[int], None]:
        return lambda count: self(step, count)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()  # type: ignore[no-untyped-call]
            self._bar = None
