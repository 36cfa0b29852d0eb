"""What the verbs answer: the JSON document of the program, byte for byte, and its parts as tables."""

from __future__ import annotations

import base64
import dataclasses
import functools
import html
import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

from . import _engine
from .errors import Diagnostic, UsageError, diagnostics_of
from .program import Progress, ask, output
from .tables import Shape, Table, as_printed

if TYPE_CHECKING:
    from .scenario import Scenario

_SUCCESS, _INTERRUPTED = 0, 130


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Whether the pods run and every objective and policy holds, as the document says it; where it has
    no verdict of its own, by the exit code of the program.

    It is true where it stands."""

    stands: bool
    exit_code: int  #: see `slicewise help exit-codes`
    reasons: tuple[str, ...]  #: why it does not stand

    def __bool__(self) -> bool:
        return self.stands

    def __str__(self) -> str:
        if self.stands:
            return "stands"
        otherwise = "interrupted" if self.exit_code == _INTERRUPTED else f"exit code {self.exit_code}"
        return "; ".join(self.reasons) or otherwise


def _reasons_of(judged: dict[str, Any]) -> list[str]:
    return [reason["text"] for reason in judged.get("verdict", {}).get("reasons", [])]


@functools.cache
def shape_of(document: str, *path: str) -> Shape:
    """What the schema of a document says of the rows at a path: `slicewise schema`."""
    found: Any = json.loads(ask(["schema", document], {}, output, False))
    for key in path:
        # A replay and an inflation are one schema.
        found = next(form["properties"][key] for form in found.get("oneOf", [found]) if key in form["properties"])
        found = found.get("items", found)
    shape: Shape = found
    return shape


class Document:
    """An answer of the program. `json` has the bytes that it writes with `-o json`; equal input, equal
    bytes, whatever the threads or the machine."""

    _kind: str  # by which `slicewise schema` knows it

    def __init__(self, answer: _engine.Answer) -> None:
        self.json = output(answer)
        self.exit_code = answer.exit_code
        #: What the program says on standard error beside the report.
        self.messages = answer.errors
        #: Warnings and notes of the scenario.
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics_of(answer.diagnostics)
        self._renderings = answer.renderings

    @functools.cached_property
    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.json)
        return content

    def to_dict(self) -> dict[str, Any]:
        """The document; `slicewise schema` describes it. Units are in the keys: Seconds, Bytes, Usd."""
        content: dict[str, Any] = json.loads(self.json)
        return content

    @property
    def metadata(self) -> dict[str, Any]:
        """What it takes to make it again: scenario, inputs, seed, replications, prices, version."""
        return dict(self._content.get("metadata", {}))

    @property
    def interrupted(self) -> bool:
        """Whether it covers only what was done when Ctrl-C came."""
        return bool(self.metadata.get("interrupted", False))

    @property
    def verdict(self) -> Verdict:
        """Whether it stands, and why not."""
        return Verdict(self._stands(), self.exit_code, tuple(self._reasons()))

    def _stands(self) -> bool:
        """Studies around a scenario exit with 0 whether or not it keeps its objectives."""
        return self.exit_code == _SUCCESS and bool(self._content.get("verdict", {}).get("stands", True))

    def _reasons(self) -> list[str]:
        if "verdict" in self._content:
            return _reasons_of(self._content)
        return [line for line in self.messages.splitlines() if line.startswith("error: ")]

    def table(self, wide: bool = False) -> str:
        """What `-o table` or `-o wide` prints."""
        return self._rendering("wide" if wide else "table")

    def markdown(self) -> str:
        """What `-o md` prints: GitHub-flavoured. UsageError where there is none, of `check`."""
        return self._rendering("md")

    def csv(self) -> str:
        """What `-o csv` prints: RFC 4180. UsageError where there is none, of `check`."""
        return self._rendering("csv")

    @property
    def charts(self) -> dict[str, str]:
        """What can be drawn of it without another simulation, as SVG by name; {} where that is nothing."""
        return {name.removesuffix(".svg"): text
                for name, text in self._renderings.items() if name.endswith(".svg")}

    def _rendering(self, form: str) -> str:
        if form not in self._renderings:
            raise UsageError(f"{type(self).__name__} has no {form}: it has json and table()")
        return self._renderings[form]

    def _table(self, rows: str) -> Table:
        return Table(self._content.get(rows, []), shape_of(self._kind, rows))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._name()}: {self.verdict}>"

    def _name(self) -> str:
        return str(self.metadata.get("scenario", self.metadata.get("trace")))

    def _repr_html_(self) -> str:
        mark = "✓" if self.verdict else "✗"
        said = html.escape(f"{mark} {self._name()}: {self.verdict}")
        return f"<p><b>{said}</b></p>" + as_printed(self.table()) + "".join(
            _picture(*chart) for chart in self.charts.items())


class Page(str):
    """An HTML document of the program; a notebook shows it."""

    def _repr_html_(self) -> str:
        return f'<iframe style="width: 100%; height: 50em; border: 0" srcdoc="{html.escape(self)}"></iframe>'


class Files(dict[str, str]):
    """What puts a scenario in place: `Scenario.export`. Texts by path; one file alone has the path ""."""

    def __init__(self, answer: _engine.Answer, folder: str = ".") -> None:
        super().__init__({"" if path == folder else path.removeprefix(f"{folder}/"): text.decode()
                          for path, text in answer.files.items()})
        self._executables = {path.removeprefix(f"{folder}/") for path in answer.executables}
        #: What the program says on standard error: traps of the scenario, what was left out.
        self.messages = answer.errors
        self.diagnostics: tuple[Diagnostic, ...] = diagnostics_of(answer.diagnostics)

    def _repr_html_(self) -> str:
        return as_printed("\n".join(f"{len(text):>8}  {name}" for name, text in self.items()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes one file alone to `path`, several into the folder of that name."""
        for name, text in self.items():
            target = pathlib.Path(path, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if name in self._executables:
                target.chmod(target.stat().st_mode | 0o111)


def _picture(name: str, chart: str) -> str:
    """A chart with styles and names of its own, whatever else is on the page."""
    source = base64.b64encode(chart.encode()).decode()
    title = re.search(r"<title[^>]*>(.*?)</title>", chart)
    alternative = title[1].replace('"', "&quot;") if title else name
    return f'<img alt="{alternative}" src="data:image/svg+xml;base64,{source}">'


def _beside(rows: Shape, **names: str) -> Shape:
    """Rows that say in these columns what they are of."""
    return {"properties": {**{name: {"type": kind} for name, kind in names.items()}, **rows.get("properties", {})}}


def _figures_of(policy: dict[str, Any]) -> str:
    return ", ".join(f"{figure['name']} = {figure.get('value', 'unknown')}" for figure in policy["figures"])


class Result(Document):
    """What happened to a scenario's variants: `Scenario.run`."""

    _kind = "result"

    @property
    def variants(self) -> Table:
        """A row for each variant and point of a sweep: cost, pods, lengths, verdict."""
        return self._table("variants")

    def _of_variants(self, key: str) -> Table:
        return Table([{"variant": variant["name"], **row}
                      for variant in self._content["variants"] for row in variant.get(key, [])],
                     _beside(shape_of(self._kind, "variants", key), variant="string"))

    @property
    def workloads(self) -> Table:
        """A row for each workload of each variant: what was done, latency, waits, its bill."""
        return self._of_variants("workloads")

    @property
    def pools(self) -> Table:
        """A row for each node pool of each variant: instance type, nodes, price per hour."""
        return self._of_variants("nodePools")

    @property
    def gpus(self) -> Table:
        """A row for each GPU of each variant: how busy, memory, context switches."""
        return self._of_variants("gpus")

    @property
    def nodes(self) -> Table:
        """A row for each node of each variant: when it was there, what it cost."""
        return self._of_variants("nodes")

    @property
    def objectives(self) -> Table:
        """A row for each objective of each workload of each variant: limit, value, whether it holds."""
        return Table([{"variant": variant["name"], "workload": workload["name"], **objective}
                      for variant in self._content["variants"]
                      for workload in variant.get("workloads", [])
                      for objective in workload.get("objectives", [])],
                     _beside(shape_of(self._kind, "variants", "workloads", "objectives"), variant="string",
                             workload="string"))

    @property
    def policies(self) -> Table:
        """A row for each policy of each variant: what it asserts, whether that holds, the figures that decide it."""
        shape = shape_of(self._kind, "variants", "policies")
        return Table([{"variant": variant["name"], **policy, "figures": _figures_of(policy)}
                      for variant in self._content["variants"] for policy in variant.get("policies", [])],
                     _beside({"properties": {**shape["properties"], "figures": {"type": "string"}}}, variant="string"))

    @property
    def findings(self) -> Table:
        """What is worth knowing of each variant, with the code that `slicewise explain` knows."""
        return self._of_variants("findings")

    def _reasons(self) -> list[str]:
        return [f"{variant['name']}: {text}"
                for variant in self._content["variants"] for text in _reasons_of(variant)]


class Plan(Document):
    """The configurations that meet the objectives, the best first: `Scenario.plan`."""

    _kind = "plan"

    @property
    def options(self) -> Table:
        """A row for each option, the best first: pools, cost in dollars a month, objectives."""
        return self._table("options")

    def scenario(self, option: int = 1) -> Scenario:
        """The scenario with the pools of an option, 1 for the best: to run, change or export. InputError
        where there is no such option, or the plan's scenario has no name (`load(..., name=...)`)."""
        assert self.made_of is not None
        return self.made_of.option_of(self, option)

    #: The scenario that was planned.
    made_of: Scenario | None = None

    def report(self, *, progress: Progress = True) -> Page:
        """The page of `slicewise report plan.json`: its best options, simulated again to the same figures.
        InputError where the plan's scenario has no name, Interrupted after Ctrl-C."""
        assert self.made_of is not None
        return self.made_of.page_of(self, progress)

    @property
    def rejected(self) -> Table:
        """What was refused or did not stand, and why."""
        return self._table("rejected")

    @property
    def today(self) -> dict[str, Any] | None:
        """The figures of the scenario's own pools; None where no plan has a word for them."""
        return self._content.get("today")


class Study(Document):
    """An answer that has its page with it."""

    def report(self) -> Page:
        """The page that `-o html` writes. No InputError: nothing is read or simulated again."""
        return Page(self._rendering("html"))


class Comparison(Study):
    """The same workloads under every way of sharing: `Scenario.compare`."""

    _kind = "comparison"

    @property
    def options(self) -> Table:
        """A row for each way of sharing on each instance type: nodes, cost per hour, latency, verdict."""
        return self._table("options")

    @property
    def refused(self) -> Table:
        """What cannot be had, and why."""
        return self._table("refused")

    def _reasons(self) -> list[str]:
        if self._stands():
            return []
        return [f"{option['title']}: {text}"
                for option in self._content["options"] for text in _reasons_of(option)]


class MaxLoad(Study):
    """How much load a scenario bears: `Scenario.max_load`."""

    _kind = "max-load"

    @property
    def loads(self) -> Table:
        """A row for each load: the scenario's, the highest that passes, the lowest that fails."""
        return self._table("loads")

    @property
    def probes(self) -> Table:
        """A row for each load that was tried, as a factor on the scenario's."""
        return self._table("probes")

    @property
    def factor(self) -> float | None:
        """Times the scenario's load that still passes; None where no load does."""
        return self._content.get("passedFactor")


class Neighbours(Study):
    """How many times as long each workload takes beside each other one: `Scenario.neighbours`."""

    _kind = "neighbours"

    @property
    def rows(self) -> Table:
        """A row for each workload: how many times as long it takes beside each of the others, and beside all."""
        return self._table("rows")


class Sensitivity(Study):
    """Which inputs the answer hangs on: `Scenario.sensitivity`."""

    _kind = "sensitivity"

    @property
    def inputs(self) -> Table:
        """A row for each input, that with the largest effect first."""
        return self._table("inputs")

    @property
    def break_evens(self) -> Table:
        """A row for each value of an input at which the verdict changes."""
        return self._table("breakEvens")


class Replay(Document):
    """A trace of jobs under schedulers and ways of sharing: `replay`."""

    _kind = "replay"

    @property
    def schedulers(self) -> Table:
        """A row for each way: waits, completion times, makespan, cost."""
        return self._table("schedulers")

    def _reasons(self) -> list[str]:
        names = ("sharing", "queue", "placement")
        return [f"{', '.join(way[name] for name in names if name in way)}: {text}"
                for way in self._content.get("schedulers", []) for text in _reasons_of(way)]

    #: CSV of when each job started and ended under the first way; None unless it was asked for.
    job_times: str | None = None

    def report(self) -> Page:
        """The page of `slicewise report replay.json`. InputError where the replay was interrupted before it began."""
        return Page(ask(["report", "replay.json"], {"replay.json": self.json.encode()}, output, False))
