"""Numbers from what a person types."""

from __future__ import annotations

import math
from typing import Any

from kinema.errors import InputError


def numbers(name: str, text: str, *counts: int) -> Any:
    """So many numbers, with commas between. name: of the option. counts: how many it may have."""
    try:
        numbers = tuple(float(cell) for cell in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in counts or not all(math.isfinite(number) for number in numbers):
        many = " or ".join(map(str, counts))
        raise InputError(f"{name} is {text!r:.60}; expected {many} numbers, as {','.join('123'[: counts[0]])}")
    return numbers
