"""What a contestant is: the tiny protocol that Kinema and every peer follow."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Protocol


class Peer(Protocol):
    """A library that solves the problems of `benchmarks.problems`. Only the solving is timed."""

    name: str

    def available(self) -> bool:
        """Whether what it needs is installed; finding out is quick and never raises."""

    def version(self) -> str | None:
        """The version of what is installed."""

    def prepare(self, problem: Any) -> None:
        """Build the model and convert the input: not timed."""

    def solve(self) -> float:
        """Solve the whole problem once; seconds an item."""

    def joints(self) -> Any:
        """(M, N, 3): the joints of the latest answers, root first, for the judge: not timed."""


class OneByOne:
    """`solve` for those who are called once an item. `prepare` sets the two fields."""

    _inputs: list[Any]
    _call: Callable[[Any], Any]
    _answers: list[Any]

    def solve(self) -> float:
        call, inputs = self._call, self._inputs
        self._answers = []
        start = perf_counter()
        self._answers = [call(each) for each in inputs]
        return (perf_counter() - start) / len(inputs)
