"""Scenarios: what is run, compared, planned and exported."""

from __future__ import annotations

import dataclasses
import datetime
import difflib
import functools
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, SupportsFloat, SupportsIndex, TypeVar, Union

from . import _engine
from .documents import (Comparison, Document, Files, MaxLoad, Neighbours, Page, Plan, Result,
                        Sensitivity, shape_of)
from .errors import InputError, UsageError, diagnostics_of
from .flag_help import explained
from .plain import json_of, plain
from .program import (Progress, Source, Text, ask, each_of, encoded, flags, named, output,
                      sources_of)
from .tables import Table, as_printed

_Document = TypeVar("_Document", bound=Document)

#: A value of a field, as YAML has it: `3`, `"8Gi"`, `{"replicas": 4}`; numbers of numpy and `decimal`, too.
Value = Union[str, int, float, bool, None, SupportsIndex, SupportsFloat, datetime.timedelta, Mapping[str, Any],
              Sequence[Any]]


def _field(keyword: str) -> str:
    first, *rest = keyword.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def setting(path: str, value: Value) -> str:
    """As `--set` takes it: "nodePools.gpu.nodes=3"."""
    value = plain(value)
    return f"{path}={value if isinstance(value, str) else json_of(value)}"


def values_of(path: str, given: object) -> list[Value]:
    """What a field takes one after the other. UsageError for what is one value."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise UsageError(f"{path}: a sweep goes through a list of values, not through {given!r}")
    return [plain(each) for each in given]


@functools.cache
def _field_names() -> list[str]:
    """Of scenarios, node pools and workloads."""
    return [name for path in ([], ["nodePools"], ["workloads"])
            for name in shape_of("scenario", "spec", *path)["properties"]]


_SHOWN_LINES = 40


@dataclasses.dataclass(frozen=True, repr=False)
class Scenario:
    """A scenario file with what was changed in it. A value: `with_` makes another one; it can be given to
    other threads and processes."""

    name: str  #: of its file; "-" where it has none
    text: str  #: YAML or JSON
    settings: tuple[str, ...] = ()  #: as `--set` takes them: "nodePools.gpu.nodes=3"
    catalogues: tuple[Source, ...] = ()  #: files laid over the catalogue, in their order
    prices: Source | None = None  #: a file of prices laid over those of the catalogue
    files: tuple[Text, ...] = ()  #: that it names and that are not on the disk: traces

    @functools.cached_property
    def _outline(self) -> _engine.Outline:
        return _engine.outline(self.name, self._texts(), list(self.settings))

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return (f"<Scenario {self.name}: {len(self.variants)} variants, {len(self.pools)} node pools, "
                f"{len(self.workloads)} workloads>")

    def _repr_html_(self) -> str:
        lines = self.text.splitlines()
        more = [f"... {len(lines) - _SHOWN_LINES} more lines"] if len(lines) > _SHOWN_LINES else []
        return as_printed("\n".join([*lines[:_SHOWN_LINES], *more, *(f"# --set {one}" for one in self.settings)]))

    @property
    def variants(self) -> list[str]:
        """Their names; one where the scenario has no variants."""
        return self._outline.variants

    @property
    def workloads(self) -> list[str]:
        """Their names, of all variants."""
        return self._outline.workloads

    @property
    def pools(self) -> list[str]:
        """Names of the node pools, of all variants."""
        return self._outline.pools

    def with_(self, changes: Mapping[str, Value] | None = None, /, *,
              catalogue: Source | Iterable[Source] = (), prices: Source | None = None,
              **fields: Value) -> Scenario:
        """The scenario with other values of some fields.

        `changes` are by path, as `--set` takes them: `{"nodePools.gpu.nodes": 3}`. A name alone, or a
        keyword, is the field of that name of the scenario, else of its only node pool, else of its only
        workload: `with_(nodes=3)`; UsageError where there are several of these, or none has it. InputError where
        a value is none of its field's."""
        all_changes = {**(changes or {}), **{_field(word): value for word, value in fields.items()}}
        settings = self.settings + tuple(setting(self._path_of(name), value)
                                         for name, value in all_changes.items())
        changed = dataclasses.replace(self, settings=settings,
                                      catalogues=self.catalogues + sources_of(catalogue),
                                      prices=prices if prices is not None else self.prices)
        changed.checked()
        return changed

    def _path_of(self, field: str) -> str:
        if "." in field or _engine.has_field(field):
            return field
        for block, names in (("nodePools", self.pools), ("workloads", self.workloads)):
            if not _engine.has_field(f"{block}.{field}"):
                continue
            if len(names) == 1:
                return f"{block}.{names[0]}.{field}"
            places = ", ".join(f"{block}.{name}.{field}" for name in names)
            raise UsageError(f'{field} may be {places}: with_({{"PATH": VALUE}}) says which')
        near = difflib.get_close_matches(field, _field_names(), 1)
        raise UsageError(f"no scenario, node pool or workload has a field {field}" +
                         (f"; did you mean {near[0]}?" if near else ""))

    def checked(self) -> Scenario:
        """The scenario itself; InputError where it has mistakes that need no catalogue."""
        if self._outline.problems:
            raise InputError(self._outline.errors.rstrip(), diagnostics_of(self._outline.problems))
        return self

    # --- what is asked of it ----------------------------------------------------------------------

    def _texts(self) -> dict[str, bytes]:
        texts = {file.name: encoded(file.content) for file in self.files}
        return {**texts, self.name: encoded(self.text)}

    def _files(self) -> tuple[dict[str, bytes], list[str]]:
        """What the verbs read, and the flags that name it."""
        files = self._texts()
        catalogues = [named(source, files) for source in self.catalogues]
        prices = None if self.prices is None else named(self.prices, files)
        return files, flags(file=self.name, set=self.settings, catalogue=catalogues, prices=prices)

    def _ask(self, verb: str, make: Callable[[_engine.Answer], _Document], progress: Progress,
             **given: object) -> _Document:
        files, words = self._files()
        return ask([verb, *words, "--output=json", *flags(**given)], files, make, progress)

    @explained("run")
    def run(self, *, seeds: int | None = None, seed: int | None = None,
            variant: str | Sequence[str] | None = None,
            sweep: Mapping[str, Sequence[Value]] | None = None, fidelity: str | None = None,
            inputs: str | None = None, split: str | None = None, group_by: str | None = None,
            journal: str | None = None, allow_pending: bool = False, jobs: int | None = None,
            max_events: int | None = None, max_memory: str | int | None = None,
            progress: Progress = True) -> Result:
        """Simulates every variant, or those that are named: `slicewise run`.

        seeds: independent replications. seed: of the random numbers. sweep: values of a field, each in
        turn: `{"nodes": [1, 2]}`, by path or name as of `with_`. inputs: "sampled" draws profiles from their intervals.
        jobs: threads (default: all CPUs); never changes a byte. journal: a file that keeps each
        replication as it ends, from which the same call goes on."""
        swept: dict[str, str] = {}
        for name, values in (sweep or {}).items():
            path = self._path_of(name)
            if path in swept:
                raise UsageError(f"sweep: {name} is {path}, which is there already")
            swept[path] = json_of(values_of(name, values), separators=(",", ":"))
        return self._ask("run", Result, progress, replications=seeds, seed=seed,
                         variant=_several(variant), sweep=swept, fidelity=fidelity, inputs=inputs,
                         split=split, group_by=group_by, journal=journal,
                         allow_pending=allow_pending, jobs=jobs, max_events=max_events, max_memory=max_memory)

    @explained("plan")
    def plan(self, *, variant: str | None = None, instances: Sequence[str] = (),
             purchase: Sequence[str] = (), strategies: Sequence[str] = (),
             replicas: Sequence[int] = (), tensor_parallel: Sequence[int] = (),
             max_batch: Sequence[int] = (), max_delay: Sequence[str] = (),
             concurrency: Sequence[int] = (),
             max_nodes: int | None = None, max_cost: int | None = None,
             vary_pods: int | None = None, survive: str | None = None, objective: str | None = None,
             top: int | None = None, dra: bool = False, split: bool = True, headroom: bool = True,
             risk: bool = True, flips: bool = True,
             from_: str | None = None, max_changes: int | None = None,
             regions: Sequence[str] = (), horizon: int | None = None,
             growth: float | str | None = None, inputs: str | None = None,
             journal: str | None = None,
             seeds: int | None = None, seed: int | None = None, allow_pending: bool = False,
             jobs: int | None = None,
             max_events: int | None = None, max_memory: str | int | None = None,
             progress: Progress = True) -> Plan:
        """The cheapest configurations that meet the objectives: `slicewise plan`.

        instances: types or families to choose from. dra: also what only NVIDIA's DRA driver sets up.
        max_cost: dollars a month. growth: of the traffic
        from month to month over `horizon` months, as a share (0.05) or a text ("5%"). regions: others
        whose prices are compared, or "all". inputs: "sampled" draws profiles from their intervals in the
        runs of the best two options."""
        def make(answer: _engine.Answer) -> Plan:
            made = Plan(answer)
            made.made_of = self
            return made

        return self._ask("plan", make, progress, variant=variant, instances=instances,
                         purchase=purchase, strategies=strategies, replicas=replicas,
                         tensor_parallel=tensor_parallel, max_batch=max_batch, max_delay=max_delay,
                         concurrency=concurrency, max_nodes=max_nodes, max_cost=max_cost,
                         vary_pods=vary_pods, survive=survive, objective=objective, top=top, dra=dra,
                         no_split=not split, no_headroom=not headroom, no_risk=not risk, no_flips=not flips, from_=from_,
                         max_changes=max_changes, regions=regions, horizon=horizon, growth=growth,
                         inputs=inputs, journal=journal, replications=seeds, seed=seed,
                         allow_pending=allow_pending, jobs=jobs, max_events=max_events,
                         max_memory=max_memory)

    def option_of(self, plan: Plan, option: int) -> Scenario:
        """Option `option` of a plan of this scenario, as a scenario: `Plan.scenario`. InputError where it has none."""
        text = self._ask_of(plan, ["export", f"--file=plan.json#{option}", "--to=scenario"], False)
        return dataclasses.replace(self, name=f"option-{option}.yaml", text=text, settings=())

    def page_of(self, plan: Plan, progress: Progress) -> Page:
        """The page of a plan of this scenario: `Plan.report`, InputError where it is of another one."""
        return Page(self._ask_of(plan, ["report", "plan.json"], progress))

    def _ask_of(self, plan: Plan, words: list[str], progress: Progress) -> str:
        files, own = self._files()
        files["plan.json"] = encoded(plan.json)
        catalogues = [word for word in own if word.startswith("--catalogue=")]
        return ask([*words, *catalogues], files, output, progress)

    @explained("compare")
    def compare(self, *, variant: str | None = None, instances: Sequence[str] = (),
                purchase: Sequence[str] = (), strategies: Sequence[str] = (),
                replicas: Sequence[int] = (), tensor_parallel: Sequence[int] = (),
                max_batch: Sequence[int] = (), max_delay: Sequence[str] = (),
                concurrency: Sequence[int] = (), nodes: int | None = None,
                max_cost: int | None = None, objective: str | None = None, dra: bool = False,
                inputs: str | None = None, retired: bool = False, force: bool = False,
                seeds: int | None = None, seed: int | None = None,
                journal: str | None = None, allow_pending: bool = False, jobs: int | None = None,
                max_events: int | None = None, max_memory: str | int | None = None,
                progress: Progress = True) -> Comparison:
        """The same workloads under every way of sharing: `slicewise compare`."""
        return self._ask("compare", Comparison, progress, variant=variant, instances=instances,
                         purchase=purchase, strategies=strategies, replicas=replicas,
                         tensor_parallel=tensor_parallel, max_batch=max_batch, max_delay=max_delay,
                         concurrency=concurrency, nodes=nodes, max_cost=max_cost, objective=objective,
                         dra=dra, inputs=inputs, retired=retired, force=force, replications=seeds, seed=seed,
                         journal=journal, allow_pending=allow_pending, jobs=jobs,
                         max_events=max_events, max_memory=max_memory)

    @explained("max-load")
    def max_load(self, *, variant: str | None = None, scale: Sequence[str] = (),
                 precision: float | str | None = None, most: int | None = None,
                 most_replications: int | None = None, seeds: int | None = None,
                 seed: int | None = None,
                 journal: str | None = None, allow_pending: bool = False, jobs: int | None = None,
                 max_events: int | None = None, max_memory: str | int | None = None,
                 progress: Progress = True) -> MaxLoad:
        """The highest load that meets the objectives: `slicewise max-load`.

        scale: paths of what grows. precision: width of the interval as a share (0.02) or "2%"."""
        return self._ask("max-load", MaxLoad, progress, variant=variant, scale=scale,
                         precision=precision, most=most, most_replications=most_replications,
                         replications=seeds, seed=seed, journal=journal, allow_pending=allow_pending, jobs=jobs,
                         max_events=max_events, max_memory=max_memory)

    @explained("neighbours")
    def neighbours(self, *, variant: str | None = None, seeds: int | None = None,
                   seed: int | None = None,
                   journal: str | None = None, allow_pending: bool = False, jobs: int | None = None,
                   max_events: int | None = None, max_memory: str | int | None = None,
                   progress: Progress = True) -> Neighbours:
        """Who slows whom down: `slicewise neighbours`."""
        return self._ask("neighbours", Neighbours, progress, variant=variant, replications=seeds,
                         seed=seed, journal=journal, allow_pending=allow_pending, jobs=jobs,
                         max_events=max_events, max_memory=max_memory)

    @explained("sensitivity")
    def sensitivity(self, *, variant: str | None = None, vary: Sequence[str] = (),
                    by: float | str | None = None, break_evens: int | None = None,
                    seeds: int | None = None, seed: int | None = None,
                    journal: str | None = None, allow_pending: bool = False,
                    jobs: int | None = None,
                    max_events: int | None = None, max_memory: str | int | None = None,
                    progress: Progress = True) -> Sensitivity:
        """Which inputs the answer hangs on: `slicewise sensitivity`. by: a share (0.2) or "20%"."""
        return self._ask("sensitivity", Sensitivity, progress, variant=variant, vary=vary, by=by,
                         break_evens=break_evens, replications=seeds, seed=seed,
                         journal=journal, allow_pending=allow_pending, jobs=jobs,
                         max_events=max_events, max_memory=max_memory)

    @explained("export")
    def export(self, to: str, *, variant: str | None = None, chart_version: str | None = None,
               image: str | None = None, gpu_operator: bool = False, cluster: str | None = None,
               repository: str | None = None,
               node_selector: Mapping[str, str] | None = None, start: str | None = None,
               dcgm_compat: bool = False, requests: int | None = None, force: bool = False,
               max_events: int | None = None, max_memory: str | int | None = None) -> Files:
        """The files that put it in place, by path: `slicewise export --to`. One file alone has the
        path ""; `write` puts them on the disk."""
        files, words = self._files()
        return ask(["export", *words, f"--to={to}", "--out=.", *flags(
            variant=variant, chart_version=chart_version, image=image, gpu_operator=gpu_operator,
            cluster=cluster, repository=repository, node_selector=node_selector, start=start,
            dcgm_compat=dcgm_compat, requests=requests, force=force, max_events=max_events,
            max_memory=max_memory)], files, Files, False)

    @explained("report")
    def report(self, *, variant: str | Sequence[str] | None = None, seeds: int | None = None,
               seed: int | None = None, split: str | None = None, group_by: str | None = None,
               allow_pending: bool = False, jobs: int | None = None,
               max_events: int | None = None, max_memory: str | int | None = None,
               interactive: bool = False, engine: str | None = None,
               progress: Progress = True) -> Page:
        """The page of `slicewise report`, as one HTML document; `interactive`: with the simulator
        inside, of the file `engine` that tools/web/build writes, or of the wheel's own."""
        own = pathlib.Path(__file__).with_name("slicewise-engine.js")
        if interactive and engine is None and own.exists():
            engine = str(own)
        files, words = self._files()
        return Page(ask(["report", *words, "--output=html", *flags(
            variant=_several(variant), replications=seeds, seed=seed, split=split,
            group_by=group_by, allow_pending=allow_pending, jobs=jobs, max_events=max_events,
            max_memory=max_memory, interactive=interactive, engine=engine)], files, output, progress))

    def check(self, *, strict: bool = False) -> Check:
        """What is wrong with it, without a run: `slicewise check`, which judges files as they stand:
        UsageError where `with_` has changed something."""
        if self.settings:
            raise UsageError(f"check judges files as they stand, and {self.settings[0]} was changed")
        names = flags(file=self.name, strict=strict)
        files = self._texts()
        names += flags(catalogue=[named(source, files) for source in self.catalogues])
        return ask(["check", *names, "--output=json"], files, Check, False)


def _several(names: str | Sequence[str] | None) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


class Check(Document):
    """What a cluster will do with files: `check`. It is true where nothing is wrong."""

    _kind = "check"

    @property
    def findings(self) -> Table:
        """A row for each mistake, trap and note: severity, code, place, what is wrong, what to do."""
        return self._table("findings")

    def table(self, wide: bool = False) -> str:
        """A line for each finding: file, line, severity, code, what is wrong."""
        return "\n".join(f"{row.get('file', '')}:{row.get('line', 0)}: {row['severity']}"
                         f"[{row['code']}]: {row['message']}" for row in self.findings)

    def _name(self) -> str:
        return ", ".join(self._content.get("files", []))

    def _reasons(self) -> list[str]:
        return [row["message"] for row in self.findings if row["severity"] == "error"]


@explained("check")
def check(*sources: Source | Sequence[Source], catalogue: Source | Iterable[Source] = (), strict: bool = False,
          plugin_version: str | None = None) -> Check:
    """What a cluster will do with these files, judged together: scenarios, manifests, values of the
    device plugin, NodePools, MIG configs; folders too."""
    files: dict[str, bytes] = {}
    names = [named(source, files) for source in each_of(sources)]
    layers = [named(source, files) for source in sources_of(catalogue)]
    return ask(["check", *flags(file=names, catalogue=layers, strict=strict,
                                plugin_version=plugin_version), "--output=json"], files, Check, False)
