"""When are two numbers equal? When they round to the same 4 significant figures."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

__all__ = [
    "ABSOLUTE_NOISE",
    "EXPONENT_SHIFT",
    "INFINITE_KEY",
    "NAN_KEY",
    "NOISE",
    "Number",
    "exact_key",
    "is_noise",
    "number_key",
    "to_double",
]

Number = int | float | Decimal

NOISE = 1e-12
"""A value that is not whole and this small beside its column's largest is what a sum leaves over: it counts as 0."""
ABSOLUTE_NOISE = 1e-12
"""The same beside a column of zeros, which has no largest."""
EXPONENT_SHIFT = 400
NAN_KEY = 1_000_000_000
INFINITE_KEY = 2_000_000_000
"""Keys that no number has."""
_WHOLE_FROM = 10**12
_HUGE = 1e38
"""Past it the databases have no whole numbers."""
_STEP = 10**8


def number_key(value: Number) -> int:
    """Return the key of a number at 4 significant figures.

    Snapped to 12 figures first, then rounded half away from zero: the noise of a summation, at the 16th figure, would
    else flip the values that lie on a tie. ``%.4g`` alone rounds ties to even.
    """
    double = to_double(value)
    if not math.isfinite(double):
        return NAN_KEY if math.isnan(double) else INFINITE_KEY if double > 0 else -INFINITE_KEY
    if double == 0:
        return 0
    digits, exponent = f"{double:.11e}".split("e")
    mantissa, power = int(digits.replace(".", "")), int(exponent)
    rounded = (abs(mantissa) + _STEP // 2) // _STEP
    if rounded == 10_000:
        rounded, power = 1000, power + 1
    key = (power + EXPONENT_SHIFT) * 10_000 + rounded
    return -key if mantissa < 0 else key


def exact_key(value: Number) -> str:
    """Return the key of a number that is compared as it is: to 12 significant figures, a whole one to the last digit.

    12, since the figures after them depend on the order of a summation.
    """
    double = to_double(value)
    if not math.isfinite(double):
        return str(double)
    if double == 0:
        return "0"
    if abs(double) < _WHOLE_FROM:
        key = f"{double:.11e}"
        return key if not key.endswith("e+12") else str(int(float(key)))
    if abs(double) >= _HUGE:
        return repr(double)
    if isinstance(value, float):
        return str(int(value) if abs(value) >= 2**53 else int(math.copysign(math.floor(abs(value) + 0.5), value)))
    return str(int(value.to_integral_value(ROUND_HALF_UP) if isinstance(value, Decimal) else value))


def is_noise(value: Number, limit: float) -> bool:
    """Say whether a value is left over from a sum: below ``limit``, and not whole."""
    double = to_double(value)
    return -limit <= double <= limit and double != math.trunc(double)


def to_double(value: Number) -> float:
    """Return the nearest double; a number past the range is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a signaling NaN
        return math.nan
