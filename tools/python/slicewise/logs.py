"""Logs of other systems as traces and scenarios, and traces under schedulers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from . import _engine
from .documents import Replay
from .flag_help import explained
from .frames import Frame, source_of
from .plain import plain
from .program import Progress, Source, Text, ask, flags, named, sources_of
from .scenario import Scenario
from .tables import Table

if TYPE_CHECKING:
    import pandas


class Trace:
    """Jobs or requests of a log: `import_jobs` and its like. `csv` is what `slicewise import` writes."""

    def __init__(self, answer: _engine.Answer) -> None:
        self._bytes = answer.files.get("", b"")
        #: What was read, left out, guessed and repaired.
        self.messages = answer.errors

    @property
    def csv(self) -> str:
        """A line of names, then one for each job or request; lengths are seconds where a name ends in _s."""
        return self._bytes.decode()

    @property
    def rows(self) -> Table:
        """A row for each job or request, with the columns of `csv`; seconds where a name ends in _s."""
        lines = [line for line in self.csv.splitlines() if not line.startswith("#")]
        read = csv.DictReader(lines)
        columns = [_figures(list(column)) for column in zip(*(row.values() for row in read))]
        return Table([dict(zip(read.fieldnames or (), row)) for row in zip(*columns)])

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a DataFrame; needs pandas."""
        return self.rows.to_pandas()

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()

    def __repr__(self) -> str:
        return f"<Trace: {self.messages.splitlines()[0] if self.messages else 'nothing was read'}>"


def _figures(texts: list[str]) -> list[Any]:
    """Numbers where all of a column are; what is empty is None."""
    for number in (int, float):
        try:
            return [number(text) if text else None for text in texts]
        except ValueError:
            continue
    return [text or None for text in texts]


class ImportedScenario(Scenario):
    """A scenario made of a log or of manifests; `messages` says what was read and what is missing."""

    messages = ""


def _import(kind: str, sources: Sequence[Source | Frame], scenario: bool,
            **given: object) -> Trace | ImportedScenario:
    files: dict[str, bytes] = {}
    names = [named(source_of(source, f"{kind}-{n + 1}.csv"), files)
             for n, source in enumerate(sources)]
    words = ["import", kind, *flags(file=names, **given)]
    if not scenario:
        return ask(words, files, Trace, False)

    def make(answer: _engine.Answer) -> ImportedScenario:
        made = ImportedScenario("-", answer.files[""].decode())
        object.__setattr__(made, "messages", answer.errors)
        return made

    return ask([*words, *([] if kind == "k8s" else ["--output=scenario"])], files, make, False)


def _trace(kind: str, sources: Sequence[Source | Frame], **given: object) -> Trace:
    made = _import(kind, sources, False, **given)
    assert isinstance(made, Trace)
    return made


def _scenario(kind: str, sources: Sequence[Source | Frame], **given: object) -> ImportedScenario:
    made = _import(kind, sources, True, **given)
    assert isinstance(made, ImportedScenario)
    return made


@explained("import")
def import_jobs(*logs: Source | Frame, columns: str | Mapping[str, str],
                utc_offset: str | None = None, from_: str | None = None, length: str | None = None,
                skip_bad: bool = False) -> Trace:
    """Any CSV or DataFrame of jobs. columns: which column is what, {"arrival": "submit_time:iso", "run":
    "seconds", "gpus": "gpu_num"}, or a ready map ("philly", "helios")."""
    return _trace("jobs", logs, columns=_map_text(columns), utc_offset=utc_offset, from_=from_,
                  length=length, skip_bad=skip_bad)


@explained("import")
def import_sacct(*logs: Source, columns: str | None = None, utc_offset: str | None = None,
                 from_: str | None = None, length: str | None = None, replicas: int | None = None,
                 skip_bad: bool = False) -> Trace:
    """What `sacct -P` printed."""
    return _trace("sacct", logs, columns=columns, utc_offset=utc_offset, from_=from_, length=length,
                  replicas=replicas, skip_bad=skip_bad)


@explained("import")
def import_swf(*logs: Source, partitions: str | None = None, from_: str | None = None,
               length: str | None = None, skip_bad: bool = False) -> Trace:
    """The Standard Workload Format 2.2."""
    return _trace("swf", logs, partitions=partitions, from_=from_, length=length, skip_bad=skip_bad)


@explained("import")
def import_openb(*logs: Source | Frame, from_: str | None = None, length: str | None = None,
                 skip_bad: bool = False) -> Trace:
    """Alibaba's pods of 2023."""
    return _trace("openb", logs, from_=from_, length=length, skip_bad=skip_bad)


@explained("import")
def import_requests(kind: str, *logs: Source | Frame, utc_offset: str | None = None,
                    from_: str | None = None, length: str | None = None, pool: str | None = None,
                    rate_scale: float | None = None, skip_bad: bool = False) -> Trace:
    """Requests to language models; kind: azure, mooncake, burstgpt or servegen."""
    return _trace(kind, logs, utc_offset=utc_offset, from_=from_, length=length, pool=pool,
                  rate_scale=rate_scale, skip_bad=skip_bad)


@explained("import")
def import_k8s(*files: Source, replicas: int | None = None,
               name: str | None = None) -> ImportedScenario:
    """A scenario from manifests, values of the device plugin and NodePools. It has TODO marks where the
    files do not say; `messages` names them."""
    return _scenario("k8s", files, replicas=replicas, name=name)


@explained("import")
def import_pods(*lists: Source, replicas: int | None = None, name: str | None = None,
                from_: str | None = None, length: str | None = None) -> ImportedScenario:
    """A scenario from `kubectl get pods -A -o json`."""
    return _scenario("pods", lists, replicas=replicas, name=name, from_=from_, length=length)


@explained("import")
def import_prometheus(*answers: Source, url: str | None = None, start: str | None = None,
                      end: str | None = None, step: str | None = None, replicas: int | None = None,
                      name: str | None = None) -> ImportedScenario:
    """A scenario from range queries of DCGM exporter and kube-state-metrics: files, or a server that is
    asked (`url`)."""
    return _scenario("prometheus", answers, url=url, start=start, end=end, step=step,
                     replicas=replicas, name=name)


def _map_text(columns: str | Mapping[str, str]) -> str:
    if isinstance(columns, str):
        return columns
    return ",".join(f"{what}={column}" for what, column in columns.items())


#: "p4d.24xlarge=10", several of them, or a dict from type to number.
Instances = Union[str, Sequence[str], Mapping[str, int]]


def instances_of(given: Instances | None) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str):
        return given.split(",")
    return [f"{t}={plain(n)}" for t, n in given.items()] if isinstance(given, Mapping) else list(given)


@explained("replay")
def replay(trace: Source | Frame | Trace, *, columns: str | Mapping[str, str] | None = None,
           instances: Instances | None = None, gpus: int | None = None, nodes: Source | None = None,
           region: str | None = None, prices: Source | None = None,
           catalogue: Source | Iterable[Source] = (), any_gpu: bool = False, queue: str | Sequence[str] = (),
           placement: str | Sequence[str] = (), sharing: str | Sequence[str] = (),
           profile_by: Sequence[str] = (), backoff_limit: int | None = None, inputs: str | None = None,
           skip_bad: bool = False, group_by: str | None = None, restart_preempted: bool = False,
           repeat: int | None = None,
           shift: str | None = None, inflate: float | str | None = None, journal: str | None = None,
           allow_pending: bool = False, seeds: int | None = None, seed: int | None = None,
           job_times: bool = False, jobs: int | None = None, max_events: int | None = None,
           max_memory: str | int | None = None, progress: Progress = True) -> Replay:
    """A trace of jobs under schedulers and ways of sharing, side by side: `slicewise replay`.

    trace: what an `import_` function gave, the path of a trace or of a file of kind: Replay, or a
    DataFrame of jobs: with `columns` ({"arrival": "submitted:iso", "run": "seconds", "gpus": "gpus"})
    any, without it one with the columns of a trace.
    instances: "p4d.24xlarge=10" or {"p4d.24xlarge": 10}. sharing: "exclusive", "time-slicing:4",
    "mps:4", "mig:all-1g.5gb". inflate: a share (1.3) or "130%". job_times: fill Replay.job_times."""
    read = ""  # what was said of rows that are left out, guessed or repaired
    if columns is not None and not isinstance(trace, Trace):
        trace = import_jobs(trace, columns=columns, skip_bad=skip_bad)
        read, skip_bad = trace.messages, False
    files: dict[str, bytes] = {}
    if isinstance(trace, Trace):
        trace = Text("-", trace.csv)
    name = named(source_of(trace, "-"), files)
    words = ["replay", "--output=json", *flags(
        file=name, instances=instances_of(instances), gpus=gpus,
        nodes=None if nodes is None else named(nodes, files), region=region,
        prices=None if prices is None else named(prices, files),
        catalogue=[named(layer, files) for layer in sources_of(catalogue)], any_gpu=any_gpu,
        queue=_list(queue), placement=_list(placement), sharing=_list(sharing),
        profile_by=list(profile_by), backoff_limit=backoff_limit, inputs=inputs,
        skip_bad=skip_bad, group_by=group_by, restart_preempted=restart_preempted, repeat=repeat, shift=shift,
        inflate=inflate, journal=journal, allow_pending=allow_pending, seed=seed, replications=seeds,
        job_times="job-times.csv" if job_times else None, jobs=jobs,
        max_events=max_events, max_memory=max_memory)]
    made = ask(words, files, _replayed, progress)
    made.messages = read + made.messages
    return made


def _replayed(answer: _engine.Answer) -> Replay:
    made = Replay(answer)
    times: Any = answer.files.get("job-times.csv")
    made.job_times = None if times is None else times.decode()
    return made


def _list(given: str | Sequence[str]) -> list[str]:
    return given.split(",") if isinstance(given, str) else list(given)
