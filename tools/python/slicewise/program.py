"""Keywords become the flags of a verb, and what it says a value or an exception."""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, Union

from . import _engine
from .errors import (FileUnreadable, InputError, InternalError, Interrupted, UsageError,
                     diagnostics_of)
from .flag_help import OTHER_WORDS
from .plain import plain

#: `True`: a bar of tqdm where that is installed; `False`: nothing; or what is called with how much is
#: done, of how much, and the unit.
Progress = Union[bool, Callable[[int, int, str], None]]


class Text(NamedTuple):
    """A file that is not on the disk."""

    name: str
    content: str | bytes


#: A file: its path, or its name and text.
Source = Union[str, "os.PathLike[str]", Text]

_USAGE, _INVALID, _FILE, _BUG, _MEMORY, _INTERRUPTED = 2, 3, 5, 70, 71, 130
# Flags that are given once for each value; others take them with commas.
_REPEATED = {"set", "sweep", "variant", "scale", "vary", "profile-by", "catalogue", "file",
             "node-selector"}
_PERCENT = {"by", "growth", "inflate", "precision"}

_SHORT_S = 1.0  # what takes no longer shows no bar

_Made = TypeVar("_Made")


def flags(**given: object) -> list[str]:
    """`max_nodes=4` as `--max-nodes=4`; None, False and empty lists say nothing."""
    words: list[str] = []
    for keyword, value in given.items():
        name = keyword.rstrip("_").replace("_", "-")
        value = plain(value)
        if value is None or value is False:
            continue
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, Mapping):
            words += flags(**{keyword: [f"{key}={_text(name, of)}" for key, of in value.items()]})
        elif isinstance(value, Iterable) and not isinstance(value, str):
            texts = [_text(name, each) for each in value]
            if name in _REPEATED:
                words += [f"--{name}={text}" for text in texts]
            elif texts:
                words.append(f"--{name}={','.join(texts)}")
        else:
            words.append(f"--{name}={_text(name, value)}")
    return words


def _text(name: str, value: object) -> str:
    value = plain(value)
    if name in _PERCENT and isinstance(value, (int, float)):
        if value > 1 and name != "inflate":
            raise UsageError(f'{name}: {value} is more than all; did you mean {value / 100:g} or "{value:g}%"?')
        return f"{value * 100:.10g}%"
    if name == "max-memory" and isinstance(value, int):
        return f"{-(-value // 1024)}Ki"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def named(source: Source, files: dict[str, bytes]) -> str:
    """The name of a source, whose text is put into `files` where it is given."""
    if not isinstance(source, Text):
        try:
            path = os.fspath(source)
        except TypeError as error:
            raise UsageError(f"{type(source).__name__} is no path, text or DataFrame") from error
        if "\n" in path:
            raise UsageError("a path is of one line: a text is slicewise.Text(name, text)")
        return path
    files[source.name] = encoded(source.content)
    return source.name


def each_of(given: Iterable[Source | Sequence[Source]]) -> Iterator[Any]:
    """The files of several arguments, each of which may be a list of them."""
    for one in given:
        if isinstance(one, (list, tuple)) and not isinstance(one, Text):
            yield from one
        else:
            yield one


def encoded(content: str | bytes) -> bytes:
    """UTF-8; what was read and is none as it was."""
    return content.encode(errors="surrogateescape") if isinstance(content, str) else content


def sources_of(given: Source | Iterable[Source]) -> tuple[Source, ...]:
    """One file or several."""
    return (given,) if isinstance(given, (str, os.PathLike, Text)) else tuple(given)


def ask(words: list[str], files: dict[str, bytes], make: Callable[[_engine.Answer], _Made],
        progress: Progress = True) -> _Made:
    """Runs a verb and makes a value of its answer. Raises UsageError, InputError, FileUnreadable and
    InternalError; Interrupted after Ctrl-C."""
    with Shown(progress) as shown:
        answer = _engine.run(words, files, shown)
    if answer.bug or answer.exit_code in (_BUG, _MEMORY):
        raise InternalError(answer.bug or answer.errors)
    text = answer.errors.rstrip()
    if answer.exit_code == _USAGE:
        raise UsageError(_of_keywords(text.removeprefix("error: ")))
    written = bool(answer.files)
    if answer.exit_code == _INTERRUPTED or (answer.interrupted and not written):
        made: Any = make(answer) if written else None
        raise Interrupted(text or "interrupted", made)
    if answer.exit_code == _FILE:
        raise FileUnreadable(text, diagnostics_of(answer.diagnostics))
    if answer.exit_code == _INVALID and not written:
        raise InputError(text, diagnostics_of(answer.diagnostics))
    return make(answer)


def _of_keywords(text: str) -> str:
    """What is said of flags, of the keywords that they are here."""
    text = re.sub(r"(?:^|[;,.] |\nhelp: )see slicewise [\w-]+ --help\.?", "", text)
    keywords = {flag: keyword for keyword, flag in OTHER_WORDS.items()}
    return re.sub(r"--([a-z][a-z-]+)", lambda flag: keywords.get(flag[1], flag[1].replace("-", "_")), text)


def output(answer: _engine.Answer) -> str:
    return answer.files.get("", b"").decode()


class Shown:
    """The bar of one call."""

    def __init__(self, progress: Progress) -> None:
        self._callback = progress if callable(progress) else None
        self._wanted = progress is True and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._bar: Any = None
        self._tqdm: Any = None
        self._begun = 0.0

    def __enter__(self) -> Callable[[int, int, str], None] | None:
        if self._callback is not None:
            return self._callback
        if not self._wanted:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # where a notebook has no widgets
                from tqdm.auto import tqdm
        except ImportError:
            return None
        self._tqdm = tqdm
        self._begun = time.monotonic()
        return self._update

    def _update(self, done: int, total: int, unit: str) -> None:
        if self._bar is None:
            if time.monotonic() < self._begun + _SHORT_S:
                return
            self._bar = self._tqdm(total=total, unit=f" {unit}", leave=False)
        self._bar.unit = f" {unit}"
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
