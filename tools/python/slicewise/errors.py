"""What is raised: mistakes of the input with code, place and suggestion; calls that make no sense."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import _engine


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What is wrong at one place of an input. Lines and columns count from 1; line 0 is no place."""

    code: str  #: "UNIT_UNKNOWN": explained by `slicewise explain CODE`
    severity: str  #: "error", "warning" or "note"
    file: str
    line: int
    column: int
    message: str
    help: str  #: what to do; may be ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        return f"{place}{self.severity}[{self.code}]: {self.message}"


def diagnostics_of(found: Iterable[_engine.Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(d.code, d.severity, d.file, d.line, d.column, d.message, d.help)
                 for d in found)


class SlicewiseError(Exception):
    """All that slicewise raises by itself, but Interrupted."""


class InputError(SlicewiseError):
    """A scenario, trace, price file or setting has mistakes. str() is what the program prints."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.diagnostics)


class FileUnreadable(InputError, OSError):
    """A file cannot be read."""


class UsageError(SlicewiseError, ValueError):
    """A keyword has a value that it does not take, or does not go with the others."""


class PointFailed(SlicewiseError):
    """A point of a sweep has a mistake: `point`, and why it is one is the cause (`__cause__`). `result` holds
    all other points, as a Sweep."""

    def __init__(self, message: str, point: Any, result: Any) -> None:
        super().__init__(message)
        self.point = point
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.point, self.result)


class InternalError(SlicewiseError, RuntimeError):
    """A bug in slicewise, or memory that does not suffice."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. `result` holds what had been simulated, marked as interrupted; of a sweep a Sweep of the
    points that are done; None where there is nothing."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.result)
