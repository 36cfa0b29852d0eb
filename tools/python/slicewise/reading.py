"""Scenarios from files, texts, dicts and tables of services."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any, Union

from .errors import FileUnreadable, UsageError
from .flag_help import explained
from .frames import Frame, PandasFrame, PolarsFrame, csv_of, csv_of_services, source_of
from .logs import Instances, import_jobs, instances_of
from .plain import json_of
from .program import Source, Text, ask, flags, named, output, sources_of
from .scenario import Scenario
from .tables import as_printed

_STANDARD_INPUT = "-"
_JOBS = "jobs.csv"


def load(source: Union[Source, bytes, Mapping[str, Any], Frame], *, name: str | None = None,
         set: Mapping[str, Any] | None = None,  # noqa: A002: the word of the program
         catalogue: Source | Iterable[Source] = (), prices: Source | None = None,
         files: Mapping[str, Union[str, bytes, Frame]] | None = None, instances: Instances | None = None,
         columns: str | Mapping[str, str] | None = None) -> Scenario:
    """Reads a scenario: the path of a file, its text (of several lines, JSON, or bytes), a dict that says
    the same, or a DataFrame of services with the columns name, memory, ms_per_request, requests_per_s and perhaps p95
    ("100ms", or a length of time) and gpu; memory has a unit, too: "2Gi". A DataFrame of jobs, with the `columns` of
    `replay`, is one with `instances`: their nodes, "p4d.24xlarge=10" or {"p4d.24xlarge": 10}.

    name: of the file that a text, a dict or a table stands for; messages and documents have it, and
    traces that it names are looked for beside it (default: "-", from where Python runs).
    files: traces of jobs or requests that the scenario names, as texts or DataFrames by these names.
    set: values of fields by path. catalogue, prices: files laid over what is known of GPUs and prices.
    Raises InputError with the code and place of each mistake, FileUnreadable, UsageError."""
    if isinstance(source, (PandasFrame, PolarsFrame)):
        if instances is None and columns is None:
            text = _of_services(source)
        else:
            text, trace = _of_jobs(source, instances, columns)
            files = {**(files or {}), _JOBS: trace}
    elif instances is not None or columns is not None:
        raise UsageError("instances and columns go with a DataFrame of jobs")
    elif isinstance(source, Mapping):
        text = json_of(source, indent=1)
    elif isinstance(source, bytes):
        text = source.decode(errors="surrogateescape")
    elif isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        text = source
    else:
        given: dict[str, bytes] = {}
        name = named(source, given)
        if not name:
            raise UsageError("an empty text is no scenario and no path")
        text = given[name].decode(errors="surrogateescape") if given else _read(name)
    name = _STANDARD_INPUT if name is None else name
    folder = "" if name == _STANDARD_INPUT else os.path.dirname(name)
    texts = tuple(
        Text(os.path.join(folder, path),
             csv_of(given) if isinstance(given, (PandasFrame, PolarsFrame)) else given)
        for path, given in (files or {}).items())
    scenario = Scenario(name, text, files=texts)
    if set or catalogue or prices:
        return scenario.with_(set, catalogue=catalogue, prices=prices)
    return scenario.checked()


def _of_services(frame: Frame) -> str:
    if "arrival_s" in getattr(frame, "columns", ()):
        raise UsageError("jobs need nodes: load(jobs, instances=...), or slicewise.replay")
    return ask(["init", "--from=-"], {"-": csv_of_services(frame).encode()}, output, False)


def _of_jobs(frame: Frame, instances: Instances | None, columns: str | Mapping[str, str] | None) -> tuple[str, str]:
    """A scenario and the trace that it names."""
    if instances is None:
        raise UsageError("jobs need nodes: load(jobs, columns=..., instances=...)")
    pools = [each.partition("=")[::2] for each in instances_of(instances)]
    scenario = {
        "apiVersion": "slicewise.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": "jobs"},
        "spec": {"nodePools": [{"name": kind.replace(".", "-"), "instanceType": kind,
                                "nodes": int(nodes) if nodes.isdecimal() else nodes} for kind, nodes in pools],
                 "workloads": [{"name": "jobs", "kind": "TraceJobs", "trace": {"file": _JOBS}}]}}
    trace = csv_of(frame) if columns is None else import_jobs(frame, columns=columns).csv
    return json_of(scenario, indent=1), trace


def _read(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise FileUnreadable(f'cannot read "{path}": {error.strerror}') from error


def template(name: str) -> Scenario:
    """A scenario to start from, as `slicewise init --template` writes it: batch-jobs, online-services,
    mig-tenants, notebooks, mixed-cluster. UsageError for another name."""
    return Scenario(_STANDARD_INPUT, ask(["init", f"--template={name}"], {}, output, False)).checked()


@explained("calibrate")
def calibrate(*measurements: Source | Frame, workload: str | None = None, gpu: str | None = None,
              batch: int | None = None, sharing: str | None = None, driver: str | None = None,
              date: str | None = None, catalogue: Source | Iterable[Source] = ()) -> Calibration:
    """Profiles from measurements: CSV or JSON files, what perf_analyzer, genai-perf, vllm bench serve or
    gpu_probe wrote, what Prometheus answered, or a DataFrame with the columns of such a CSV:
    `slicewise calibrate`.

    workload, gpu, batch, sharing, driver, date: what was measured, where the files do not say. Its `profiles` go into
    `load(..., catalogue=[...])` or `with_(catalogue=...)`."""
    if not measurements:
        raise UsageError("calibrate: no measurements are given")
    files: dict[str, bytes] = {}
    names = [named(source_of(given, f"measurements-{n + 1}.csv"), files)
             for n, given in enumerate(measurements)]
    written, said = ask(
        ["calibrate", *flags(file=names, workload=workload, gpu=gpu, batch=batch, sharing=sharing,
                             driver=driver, date=date, out="profiles.yaml",
                             catalogue=[named(layer, files) for layer in sources_of(catalogue)])],
        files, lambda answer: (answer.files, answer.errors), False)
    return Calibration(written["profiles.yaml"].decode(), written[""].decode(), said)


class Calibration:
    """What measurements say of a workload."""

    def __init__(self, profiles: str, table: str, messages: str) -> None:
        #: The profiles as a catalogue file.
        self.profiles = Text("profiles.yaml", profiles)
        #: Figures and how well they fit, as the program prints them.
        self.table = table
        self.messages = messages

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        return f"<Calibration: {len(str(self.profiles.content).splitlines())} lines of {self.profiles.name}>"

    def _repr_html_(self) -> str:
        return as_printed(self.table)
