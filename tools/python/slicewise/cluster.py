"""Advice about a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _engine
from .documents import Files, shape_of
from .flag_help import explained
from .program import Progress, Source, ask, flags, named, sources_of
from .reading import load
from .scenario import Scenario, Value, setting
from .tables import Table, as_printed

_FOLDER = "advice"


class Advice(Files):
    """What would be cheaper for a cluster: `advise`. The files of its folder by path, README.md among them;
    `write` puts them on the disk."""

    def __init__(self, answer: _engine.Answer) -> None:
        super().__init__(answer, _FOLDER)

    @property
    def readme(self) -> str:
        """What was found, and the commands that give the same bytes: Markdown."""
        return self["README.md"]

    @property
    def scenario(self) -> Scenario:
        """The cluster as it is, to change and to run."""
        return load(self["scenario.yaml"], name="scenario.yaml")

    @property
    def today(self) -> dict[str, Any] | None:
        """The result of the cluster as it is; None where it could not be simulated."""
        return self._document("today.json")

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan; None where there is none."""
        return self._document("plan.json")

    @property
    def options(self) -> Table:
        """A row for each option of the plan, the best first."""
        return Table((self.plan or {}).get("options", []), shape_of("plan", "options"))

    def _document(self, name: str) -> dict[str, Any] | None:
        if name not in self:
            return None
        document: dict[str, Any] = json.loads(self[name])
        return document

    def _repr_html_(self) -> str:
        return as_printed(self.readme)

    def __repr__(self) -> str:
        return f"<Advice: {len(self)} files, {len(self.options)} options>"


@explained("advise")
def advise(*objects: Source, context: str | None = None,
           kubeconfig: str | os.PathLike[str] | None = None, name: str | None = None,
           prometheus: str | None = None, start: str | None = None, end: str | None = None,
           step: str | None = None, latency: str | None = None,
           set: Mapping[str, Value] | None = None,  # noqa: A002: the word of the program
           catalogue: Source | Iterable[Source] = (), prices: Source | None = None,
           instances: Sequence[str] = (), purchase: Sequence[str] = (),
           strategies: Sequence[str] = (), replicas: Sequence[int] = (),
           tensor_parallel: Sequence[int] = (), max_batch: Sequence[int] = (),
           max_delay: Sequence[str] = (), concurrency: Sequence[int] = (),
           max_nodes: int | None = None, max_cost: int | None = None, vary_pods: int | None = None,
           survive: str | None = None, objective: str | None = None, top: int | None = None,
           split: bool = True, headroom: bool = True, risk: bool = True, flips: bool = True,
           seeds: int | None = None, seed: int | None = None, allow_pending: bool = False, jobs: int | None = None,
           max_events: int | None = None, max_memory: str | int | None = None,
           progress: Progress = True) -> Advice:
    """Reads a cluster, simulates it as it is, and says what would be cheaper: `slicewise advise`.

    objects: what `kubectl get -o json` printed, or answers of Prometheus; without any kubectl is asked, which
    changes nothing (`context`, `kubeconfig`). prometheus: URL of a server with what DCGM exporter and
    kube-state-metrics recorded from `start` to `end`; latency: a histogram there. set: fields of the scenario that
    no object says, such as objectives: {"workloads.asr.slo.latencyP99": "300ms"}. max_cost: dollars a month.
    Raises FileUnreadable where kubectl or the server does not answer, InputError for what cannot be read."""
    files: dict[str, bytes] = {}
    words = flags(
        file=[named(source, files) for source in objects], context=context,
        kubeconfig=None if kubeconfig is None else os.fspath(kubeconfig), name=name, prometheus=prometheus,
        start=start, end=end, step=step, latency=latency,
        set=[setting(path, value) for path, value in (set or {}).items()],
        catalogue=[named(source, files) for source in sources_of(catalogue)],
        prices=None if prices is None else named(prices, files), instances=instances, purchase=purchase,
        strategies=strategies, replicas=replicas, tensor_parallel=tensor_parallel, max_batch=max_batch,
        max_delay=max_delay, concurrency=concurrency, max_nodes=max_nodes,
        max_cost=max_cost, vary_pods=vary_pods, survive=survive, objective=objective, top=top,
        no_split=not split, no_headroom=not headroom, no_risk=not risk, no_flips=not flips, replications=seeds, seed=seed, allow_pending=allow_pending, jobs=jobs,
        max_events=max_events, max_memory=max_memory)
    return ask(["advise", *words, f"--out={_FOLDER}", "--replace"], files, Advice, progress)
