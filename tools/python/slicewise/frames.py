"""Tables of users, of pandas, polars or anything that writes CSV, as text for readers."""

from __future__ import annotations

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
    if isinstance(frame, PolarsFrame):
        return str(_polars_in_seconds(frame).write_csv())
    return str(_pandas_in_seconds(frame).to_csv(index=False))


# "0 days 01:00:00" and "PT1H" are for people.
def _pandas_in_seconds(frame: Any) -> Any:
    lengths = [name for name, kind in getattr(frame, "dtypes", {}).items()
               if getattr(kind, "kind", "") == "m"]
    if lengths:
        frame = frame.copy()
        for name in lengths:
            frame[name] = frame[name].dt.total_seconds()
    return frame


def _polars_in_seconds(frame: Any) -> Any:
    if not any(str(kind).startswith("Duration") for kind in getattr(frame, "dtypes", ())):
        return frame
    from polars import selectors
    return frame.with_columns(selectors.duration().dt.total_microseconds() / 1e6)


def source_of(given: Source | Frame, name: str) -> Source:
    """A file as it is; of a table its text, as a file of that name."""
    if isinstance(given, (PandasFrame, PolarsFrame)):
        return Text(name, csv_of(given))
    return given
