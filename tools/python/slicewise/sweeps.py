"""Many scenarios: every point of a grid, on whatever runs functions in parallel."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from typing import Any, Protocol, Union, runtime_checkable

from .documents import Result
from .errors import Interrupted
from .scenario import Scenario, Value
from .tables import Table


class Future(Protocol):
    def result(self) -> Any: ...


@runtime_checkable
class Executor(Protocol):
    """The pools of concurrent.futures, Dask's Client, mpi4py's MPIPoolExecutor."""

    def submit(self, function: Any, /, *arguments: Any) -> Future: ...


class Pool(Protocol):
    """multiprocessing's Pool, and that of Ray (ray.util.multiprocessing)."""

    def map(self, function: Any, points: Iterable[Any], /) -> Iterable[Any]: ...


class Sweep(Sequence[Result]):
    """The results of a grid, in its order."""

    def __init__(self, points: Sequence[Mapping[str, Value]], results: Sequence[Result]) -> None:
        self.points = list(points)
        self._results = list(results)

    def __getitem__(self, index: Any) -> Any:
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def _table(self, rows: str) -> Table:
        return Table([{**point, **row} for point, result in zip(self.points, self._results)
                      for row in getattr(result, rows)])

    @property
    def variants(self) -> Table:
        """The rows of `Result.variants`, each with the values of its point."""
        return self._table("variants")

    @property
    def workloads(self) -> Table:
        """The rows of `Result.workloads`, each with the values of its point."""
        return self._table("workloads")

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} points>"


def points_of(grid: Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]]
              ) -> Iterator[dict[str, Value]]:
    """Every combination of a dict of lists, the last one fastest; or the points as they are given."""
    if not isinstance(grid, Mapping):
        yield from (dict(point) for point in grid)
        return
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values))


def _run(scenario: Scenario, given: Mapping[str, Any]) -> Result:
    return scenario.run(**given, jobs=1, progress=False)


def sweep(scenario: Scenario,
          grid: Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]], *,
          executor: Union[Executor, Pool, None] = None, **given: Any) -> Sweep:
    """Runs the scenario at every point of a grid: {"nodes": [1, 2, 3], "workloads.api.replicas": [2, 4]},
    keys as `Scenario.with_` takes them, or a list of such points.

    executor: what runs functions in parallel, each point on one core: what has `submit`, whose futures have
    `result` (concurrent.futures, Dask's Client), or a pool with `map` (multiprocessing, Ray's). Without one
    the processes of this machine. `given`: keywords of `Scenario.run`, such as seeds. The results do not
    depend on who computes them. All points are checked before the first one runs."""
    points = list(points_of(grid))
    scenarios = [scenario.with_(point) for point in points]
    if executor is not None:
        return Sweep(points, _collect(executor, scenarios, given))
    with futures.ProcessPoolExecutor() as pool:
        return Sweep(points, _collect(pool, scenarios, given))


def _collect(executor: Executor | Pool, scenarios: Sequence[Scenario],
             given: Mapping[str, Any]) -> list[Result]:
    if not isinstance(executor, Executor):
        return list(executor.map(functools.partial(_run, given=given), scenarios))
    pending = [executor.submit(_run, scenario, given) for scenario in scenarios]
    results: list[Result] = []
    try:
        results.extend(each.result() for each in pending)
    except KeyboardInterrupt as stop:
        raise Interrupted(f"interrupted: {len(results)} of {len(pending)} points", results) from stop
    return results
