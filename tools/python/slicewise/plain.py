"""What numpy, pandas and the standard library call a number or a time, as scenarios have it."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

from .errors import UsageError


def plain(value: Any) -> Any:
    """A number, text or list for a scalar or an array of numpy, a Decimal or a timedelta ("90s"); what is
    plain already stays."""
    if isinstance(value, datetime.timedelta):  # that of pandas as well
        seconds = value.total_seconds()
        return f"{seconds:.0f}s" if seconds.is_integer() else f"{seconds * 1e3:.10g}ms"
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "m":  # its nanoseconds would be integers
        return plain(value.astype("timedelta64[us]").tolist())
    if isinstance(value, range):
        return list(value)
    if kind == "M":
        return value
    made = value.tolist() if hasattr(value, "tolist") else value
    return _whole(made) if isinstance(made, float) else made  # lists: json_of


def _whole(value: Any) -> Any:
    """2 for the 2.0 that pandas makes of 2 where another row of the column has nothing."""
    if isinstance(value, dict):
        return {key: _whole(of) for key, of in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def json_of(value: Any, indent: int | None = None, separators: tuple[str, str] | None = None) -> str:
    """JSON text, which is YAML. UsageError where something has no such value."""
    def other(part: Any) -> Any:
        made = plain(part)
        if made is part:
            raise UsageError(f"{type(part).__name__} is no number, text, list or dict: {part!r}")
        return made

    try:
        return json.dumps(_whole(value), indent=indent, separators=separators, default=other)
    except (TypeError, ValueError, RecursionError) as error:  # keys that are no text, a list within itself
        raise error if isinstance(error, UsageError) else UsageError(str(error)) from error
