"""The arguments that the statistics share, checked once."""

from __future__ import annotations

import math
import operator
from typing import SupportsIndex


def count(name: str, value: SupportsIndex, least: int = 0) -> int:
    """A whole number of `least` or more.

    Raises:
        ValueError: it is none.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}: give a whole number of {least} or more") from None
    if number < least:
        raise ValueError(f"{name} is {number}: give {least} or more")
    return number


def open_share(name: str, value: float) -> float:
    """A number strictly between 0 and 1, as a level or a power is.

    Raises:
        ValueError: it is none.
    """
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}: give a number between 0 and 1, both excluded")
    return float(value)


def p_value(name: str, value: float | None) -> float:
    """A p-value, 0 to 1.

    Raises:
        ValueError: it is none, or undefined.
    """
    if value is None or math.isnan(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}: give a number from 0 to 1; an undefined test has no p-value")
    return float(value)
