"""Many scenarios: every point of a grid, on whatever runs functions in parallel."""

from __future__ import annotations

import functools
import itertools
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from typing import Any, Protocol, Union, overload, runtime_checkable

from .documents import Result
from .errors import Interrupted, PointFailed, SlicewiseError, UsageError
from .frames import Frame, PandasFrame, PolarsFrame
from .plain import plain
from .program import Progress, Shown
from .scenario import Scenario, Value, values_of
from .tables import FIRST, Table


#: Values of each field, or points.
Grid = Union[Mapping[str, Iterable[Value]], Iterable[Mapping[str, Value]], Frame]


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

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sweep: ...

    def __getitem__(self, index: int | slice) -> Result | Sweep:
        if isinstance(index, slice):
            return Sweep(self.points[index], self._results[index])
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def _table(self, rows: str) -> Table:
        # Variants have `nodes` of their own: the points come first, in value and place.
        return Table([{**point, **{name: row[name] for name in FIRST if name in row}, **row, **point}
                      for point, result in zip(self.points, self._results) for row in getattr(result, rows)])

    @property
    def variants(self) -> Table:
        """The rows of `Result.variants`, each with the values of its point."""
        return self._table("variants")

    @property
    def workloads(self) -> Table:
        """The rows of `Result.workloads`, each with the values of its point."""
        return self._table("workloads")

    @property
    def objectives(self) -> Table:
        """The rows of `Result.objectives`, each with the values of its point."""
        return self._table("objectives")

    def __repr__(self) -> str:
        return f"<Sweep of {len(self)} points>"

    def _repr_html_(self) -> str:
        return self.variants._repr_html_()


def points_of(grid: Grid) -> Iterator[dict[str, Value]]:
    """Every combination of a dict of lists, the last one fastest; or the points as they are given, rows of a frame too."""
    rows: Any = grid
    if isinstance(grid, (PandasFrame, PolarsFrame)):
        # What a row leaves empty stays as the scenario has it; not a number is not equal to itself.
        told = (rows.to_dicts() if isinstance(grid, PolarsFrame)
                else rows.astype(object).where(rows.notna(), None).to_dict("records"))
        for row in told:
            yield {path: value for path, value in row.items() if value is not None and value == value}
        return
    if not isinstance(grid, Mapping):
        yield from (dict(point) for point in grid)
        return
    for values in itertools.product(*(values_of(path, given) for path, given in grid.items())):
        yield dict(zip(grid, values))


def _run(scenario: Scenario, given: Mapping[str, Any]) -> Result | SlicewiseError:
    """A mistake of one point is a value, so that the others are not lost."""
    try:
        return scenario.run(**given, jobs=1, progress=False)
    except SlicewiseError as error:
        return error


def _swept(points: Sequence[Mapping[str, Value]], answers: Sequence[Result | SlicewiseError]) -> Sweep:
    done = [n for n, answer in enumerate(answers) if isinstance(answer, Result)]
    results = Sweep([points[n] for n in done], [answer for answer in answers if isinstance(answer, Result)])
    for point, answer in zip(points, answers):
        if isinstance(answer, SlicewiseError):
            raise PointFailed(f"{_words_of(point)}: {answer}", point, results) from answer
    return results


def _words_of(point: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={plain(value)}" for name, value in point.items())


def sweep(scenario: Scenario, grid: Grid, *,
          executor: Union[Executor, Pool, None] = None, progress: Progress = True, **given: Any) -> Sweep:
    """Runs the scenario at every point of a grid: {"nodes": [1, 2, 3], "workloads.api.replicas": [2, 4]},
    keys as `Scenario.with_` takes them, or a list of such points, or a DataFrame with a row for each.

    executor: what runs functions in parallel, each point on one core: what has `submit`, whose futures have
    `result` (concurrent.futures, Dask's Client), or a pool with `map` (multiprocessing, Ray's). Without one
    the processes of this machine. progress: as of `Scenario.run`, in points. `given`: keywords of
    `Scenario.run`, such as seeds. The results do not depend on who computes them. The fields of all points are checked
    before the first one runs; raises PointFailed after the last one where only the run of a point says that it
    has a mistake, such as a type that EC2 does not have, with a Sweep of the others; Interrupted after Ctrl-C,
    with a Sweep of the points that are done; InputError and UsageError as `Scenario.with_`."""
    if "jobs" in given:
        raise UsageError("jobs: each point of a sweep runs on one core; executor says how many do at a time")
    if "journal" in given:
        raise UsageError("journal: it is of one run; points that are done are in Interrupted.result")
    points = list(points_of(grid))
    scenarios = [scenario.with_(point) for point in points]
    with Shown(progress) as update:
        said = functools.partial(_say, update, len(points))
        if executor is None:
            return _by_processes(points, scenarios, given, said)
        if isinstance(executor, Executor):
            return _by_futures(lambda scenario: executor.submit(_run, scenario, given), points, scenarios, said)
        return _swept(points, list(executor.map(functools.partial(_run, given=given), scenarios)))


def _say(update: Callable[[int, int, str], None] | None, total: int, done: int) -> None:
    if update is not None:
        update(done, total, "points")


class _Worker:
    """A process of a sweep. SIGTERM ends the point that it runs and those that come after, and never a result
    that is half sent: who reads that would wait for its end for ever."""
    _runs = False
    _stops = False

    @classmethod
    def begin(cls) -> None:
        # Ctrl-C is for the process that sweeps, whether the others hear of it (a terminal) or not (Jupyter).
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, cls._stop)

    @classmethod
    def run(cls, scenario: Scenario, given: Mapping[str, Any]) -> Result | SlicewiseError:
        cls._runs = True
        try:
            if cls._stops:
                raise KeyboardInterrupt
            return _run(scenario, given)
        finally:
            cls._runs = False

    @classmethod
    def _stop(cls, *_: object) -> None:
        cls._stops = True
        if cls._runs:
            raise KeyboardInterrupt


def _by_processes(points: Sequence[Mapping[str, Value]], scenarios: Sequence[Scenario],
                  given: Mapping[str, Any], said: Callable[[int], None]) -> Sweep:
    pool = futures.ProcessPoolExecutor(initializer=_Worker.begin)

    def submit(scenario: Scenario) -> Future:
        # A process that starts here hears of no Ctrl-C before it has begun.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return pool.submit(_Worker.run, scenario, given)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    try:
        return _by_futures(submit, points, scenarios, said, cancels=False)
    except BaseException:
        # Points that run are of no use any more, and may take hours.
        workers = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()
        raise
    finally:
        pool.shutdown()


def _by_futures(submit: Callable[[Scenario], Future], points: Sequence[Mapping[str, Value]],
                scenarios: Sequence[Scenario], said: Callable[[int], None], cancels: bool = True) -> Sweep:
    pending: list[Future] = []
    results: list[Result | SlicewiseError] = []
    try:
        pending.extend(submit(scenario) for scenario in scenarios)
        for each in pending:
            results.append(each.result())
            said(len(results))
    except KeyboardInterrupt as stop:
        for each in pending[len(results):] if cancels else ():
            getattr(each, "cancel", bool)()
        # In order, and then those that overtook others.
        done = dict(enumerate(results)) | {
            n: each.result() for n, each in enumerate(pending) if n >= len(results) and _has_result(each)}
        done = {n: answer for n, answer in done.items() if isinstance(answer, Result)}
        raise Interrupted(f"interrupted: {len(done)} of {len(points)} points",
                          Sweep([points[n] for n in done], list(done.values()))) from stop
    return _swept(points, results)


def _has_result(future: Future) -> bool:
    return (isinstance(future, futures.Future) and future.done() and not future.cancelled()
            and future.exception() is None)
