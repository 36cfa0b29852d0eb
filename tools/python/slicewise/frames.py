"""Tables of users, of pandas, polars or anything that writes CSV, as text for readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Union, runtime_checkable

from .program import Source, Text


@runtime_checkable
class PandasFrame(Protocol):
    """A DataFrame of pandas, or what writes CSV as it does."""

    def to_csv(self, *, index: bool) -> Any: ...


@runtime_checkable
class PolarsFrame(Protocol):
    """A DataFrame of polars."""

    def write_csv(self) -> Any: ...


#: A table with a column for each figure.
Frame = Union[PandasFrame, PolarsFrame]


def csv_of(frame: Frame) -> str:
    """Its columns with a header, without an index; lengths of time in seconds."""
    return _csv(_with_lengths(frame, lambda name, seconds: seconds))


def csv_of_services(frame: Frame) -> str:
    """The same of a table of services: GPU time of a request is a number of milliseconds, other lengths have a unit."""
    def as_services_have_it(name: str, seconds: Any) -> Any:
        milliseconds = seconds * 1e3
        if name.lower().replace(" ", "_") in ("ms_per_request", "ms"):
            return milliseconds
        if isinstance(frame, PolarsFrame):
            import polars
            return milliseconds.map_elements("{:.10g}ms".format, return_dtype=polars.String)
        return milliseconds.map("{:.10g}ms".format, na_action="ignore")

    return _csv(_with_lengths(frame, as_services_have_it))


def _csv(frame: Any) -> str:
    return str(frame.write_csv() if isinstance(frame, PolarsFrame) else frame.to_csv(index=False))


# "0 days 01:00:00" and "PT1H" are for people.
def _with_lengths(frame: Any, written: Callable[[str, Any], Any]) -> Any:
    """With columns of lengths of time as `written(name, column in seconds)`."""
    if isinstance(frame, PolarsFrame):
        of: Any = frame
        changed = {name: written(name, of[name].dt.total_microseconds() / 1e6)
                   for name, kind in getattr(of, "schema", {}).items() if str(kind).startswith("Duration")}
        return of.with_columns(**changed) if changed else of
    lengths = [name for name, kind in getattr(frame, "dtypes", {}).items() if getattr(kind, "kind", "") == "m"]
    if lengths:
        frame = frame.copy()
        for name in lengths:
            frame[name] = written(str(name), frame[name].dt.total_seconds())
    return frame


def source_of(given: Source | Frame, name: str) -> Source:
    """A file as it is; of a table its text, as a file of that name."""
    if isinstance(given, (PandasFrame, PolarsFrame)):
        return Text(name, csv_of(given))
    return given
