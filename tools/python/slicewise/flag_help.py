"""Docstrings of the verbs: each keyword says what the help of its flag says."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any, TypeVar, cast

from . import _engine

#: Keywords that are other words than their flags.
OTHER_WORDS = {"seeds": "replications", "from_": "from"}

#: What `program.ask` raises.
_RAISES = ("Raises UsageError for a keyword that makes no sense, InputError for mistakes of what is read (its "
           "`diagnostics` say where and what to do), FileUnreadable, InternalError; after Ctrl-C Interrupted, with "
           "what there is.")

_Function = TypeVar("_Function", bound=Callable[..., Any])


@functools.cache
def _manual() -> dict[str, dict[str, str]]:
    """What `slicewise man` says of each flag of each verb."""
    page = _engine.run(["man"], {}, None).files[""].decode()
    page = re.sub(r"\\f[BIR]", "", page).replace("\\-", "-")
    verbs: dict[str, dict[str, str]] = {}
    for section in page.split("\n.SS slicewise ")[1:]:
        verbs.setdefault(section.split()[0],
                         dict(re.findall(r"^\.TP\n--([\w-]+).*\n(.+)$", section, re.MULTILINE)))
    return verbs


def flag_of(keyword: inspect.Parameter) -> str:
    """Without its dashes; "no-split" of what is true unless a flag turns it off."""
    name = OTHER_WORDS.get(keyword.name, keyword.name.replace("_", "-"))
    return f"no-{name}" if keyword.default is True else name


def explained(verb: str) -> Callable[[_Function], _Function]:
    """Lists the keywords of a verb's function in its docstring, and what every verb raises."""
    def add(function: _Function) -> _Function:
        lines = []
        for keyword in inspect.signature(function).parameters.values():
            text = _manual()[verb].get(flag_of(keyword))
            if text is not None:
                shown = f"{keyword.name}=False" if keyword.default is True else keyword.name
                lines += textwrap.wrap(f"{shown}: {text}", 105, subsequent_indent="    ",
                                       break_on_hyphens=False, break_long_words=False)
        said = inspect.cleandoc(function.__doc__ or "")
        raises = textwrap.wrap(_RAISES, 105)
        function.__doc__ = "\n".join([said, "", *raises, "", f"Keywords, as the flags of `slicewise {verb}`:", "", *lines])

        @functools.wraps(function)
        def called(*given: Any, **keywords: Any) -> Any:
            for word in keywords:
                if word not in inspect.signature(function).parameters:
                    raise TypeError(f"{function.__name__}() has no keyword {word}{_suggestion(word, function)}")
            return function(*given, **keywords)

        return cast(_Function, called)
    return add


def _suggestion(word: str, function: Callable[..., Any]) -> str:
    """Of a flag its keyword, of any other word the nearest one."""
    near = [keyword for keyword, flag in OTHER_WORDS.items() if flag == word] or difflib.get_close_matches(
        word, inspect.signature(function).parameters, 1)
    return f"; did you mean {near[0]}?" if near else ""
