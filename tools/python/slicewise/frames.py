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
    """Its columns with a header, without an index."""
    return str(frame.write_csv() if isinstance(frame, PolarsFrame) else frame.to_csv(index=False))


def source_of(given: Source | Frame, name: str) -> Source:
    """A file as it is; of a table its text, as a file of that name."""
    if isinstance(given, (PandasFrame, PolarsFrame)):
        return Text(name, csv_of(given))
    return given
