"""Sweeps on the processes of Dask and Ray: the bytes of a loop. By night (check_wheel installs these two)."""

import contextlib
import unittest

from package import SHARED, slicewise
from program import main, skip_without

try:
    import ray
    from dask.distributed import Client
    from ray.util.multiprocessing import Pool
except ImportError:
    Client = None


@contextlib.contextmanager
def pool_of_ray():
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 * 2**20)
    try:
        yield Pool(2)
    finally:
        ray.shutdown()


class Pools(unittest.TestCase):
    def check(self, pool):
        s = slicewise.load(SHARED)
        with pool as executor:
            swept = slicewise.sweep(s, {"nodes": [1, 2, 3]}, seeds=1, executor=executor)
        self.assertEqual([result.json for result in swept], [s.with_(nodes=n).run(seeds=1).json for n in (1, 2, 3)])

    def test_dask(self):
        self.check(Client(processes=True, n_workers=2, threads_per_worker=1, dashboard_address=None))

    def test_ray(self):
        self.check(pool_of_ray())


def setUpModule():
    if Client is None:
        skip_without("dask or ray")


if __name__ == "__main__":
    main()
