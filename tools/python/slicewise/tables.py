"""Rows of a document as a table: for pandas, polars and whatever else reads Arrow."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _engine

if TYPE_CHECKING:
    import pandas
    import polars


_SHOWN = 8  # columns that repr() names
_SHOWN_ROWS = 60  # in a notebook


#: What the schema of a document says of a row or of a figure.
Shape = Mapping[str, Any]


def _member(shape: Shape, key: str) -> Shape:
    """Of a member of an object; what no schema describes has no shape."""
    others = shape.get("additionalProperties")
    found: Shape = shape.get("properties", {}).get(key, others if isinstance(others, Mapping) else {})
    return found


def _has_columns_of_its_own(shape: Shape, rows: list[Any]) -> bool:
    """Lists of objects are tables of their own, also where there is none in them."""
    return shape.get("items", {}).get("type") in ("object", "array") or any(
        isinstance(each, (dict, list)) for each in rows)


def _flat(row: Mapping[str, Any], shape: Shape, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        of = _member(shape, key)
        if isinstance(value, Mapping):
            yield from _flat(value, of, f"{prefix}{key}.")
        elif isinstance(value, list):
            if not _has_columns_of_its_own(of, value):
                yield prefix + key, json.dumps(value)
        else:
            # 2 and 2.5 are of one column, whichever of them a run has.
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            yield prefix + key, float(value) if is_whole and of.get("type") == "number" else value


def _names(shape: Shape, prefix: str = "") -> Iterator[str]:
    """The columns of rows of this shape."""
    for key, of in shape.get("properties", {}).items():
        if of.get("type") == "object":
            yield from _names(of, f"{prefix}{key}.")
        elif of.get("type") != "array" or not _has_columns_of_its_own(of, []):
            yield prefix + key


#: Columns that say what a row is of, before its figures.
FIRST = ("variant", "workload", "name", "title", "configuration")


class Table:
    """Rows of one kind. A row is the object of the JSON document; a column is a figure of it, named by
    its path ("latencySeconds.p99", seconds as the name says) and None where a row has none. A frame of it has
    the shape (len(table), len(table.columns)).

    It is Arrow to who asks by the PyCapsule interface: `pyarrow.table(t)`, `polars.DataFrame(t)`,
    DuckDB. Nothing of these has to be installed."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], shape: Shape | None = None) -> None:
        """shape: of a row, as JSON Schema has it: what is a `number` there is no integer where it happens to be
        whole, and a table without rows has its columns."""
        self._rows = list(rows)
        self._shape = shape or {}

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Table: ...
    @overload
    def __getitem__(self, index: str) -> list[Any]: ...

    def __getitem__(self, index: int | slice | str) -> Mapping[str, Any] | Table | list[Any]:
        """A row, several of them, or the values of a column; KeyError where there is no such column."""
        if isinstance(index, str):
            return self.columns[index]
        return Table(self._rows[index], self._shape) if isinstance(index, slice) else self._rows[index]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Each column's values, in the order of the rows."""
        flat = [dict(_flat(row, self._shape)) for row in self._rows]
        names = dict.fromkeys((name for row in flat for name in row) if flat else _names(self._shape))
        if self._shape:
            names = dict.fromkeys([*(name for name in FIRST if name in names), *names])
        return {name: [row.get(name) for row in flat] for name in names}

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame with a row for each and the columns of `columns`; needs pandas."""
        import pandas
        return pandas.DataFrame(self.columns)

    def to_polars(self) -> polars.DataFrame:
        """A polars DataFrame, by Arrow; needs polars."""
        import polars
        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """A pyarrow.Table; needs pyarrow."""
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
        return pyarrow.table(self)

    def __arrow_c_schema__(self) -> object:
        columns = self.columns
        return _engine.arrow_schema(list(columns), list(columns.values()))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = self.columns
        return _engine.arrow_stream(list(columns), list(columns.values()))

    def _repr_html_(self) -> str:
        columns = self.columns
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(values[n])}</td>" for values in columns.values()) + "</tr>"
            for n in range(min(len(self), _SHOWN_ROWS)))
        more = f"<p>{len(self) - _SHOWN_ROWS} more rows</p>" if len(self) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"

    def __repr__(self) -> str:
        names = list(self.columns)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"<{len(self)} rows of {', '.join(names[:_SHOWN])}{more}>"


def as_printed(text: str) -> str:
    """What the program prints, in a notebook."""
    return f"<pre>{html.escape(text)}</pre>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else html.escape(str(value))
