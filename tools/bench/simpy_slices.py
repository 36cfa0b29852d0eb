"""Pods that share a time-sliced GPU, slice by slice, in SimPy: what request_rates compares with.

Prints the number of requests, p50, p95 and p99 in ms. Needs the package simpy.
"""

import argparse
import collections
import random

import simpy

TURN_S = 0.002
SWITCH_S = 0.0001
REQUESTS_PER_POD_S = 15
MEAN_WORK_S = 0.010


class Gpu:
    """Takes its pods in turn; a pod's requests wait in order of arrival."""

    def __init__(self, env, pods, numbers, latencies):
        self.env = env
        self.numbers = numbers
        self.latencies = latencies
        self.queues = [collections.deque() for _ in range(pods)]
        self.ready = collections.deque()  # pods with work
        self.arrival = env.event()
        for pod in range(pods):
            env.process(self.arrivals(pod))
        env.process(self.turns())

    def arrivals(self, pod):
        while True:
            yield self.env.timeout(self.numbers.expovariate(REQUESTS_PER_POD_S))
            work = self.numbers.expovariate(1 / MEAN_WORK_S)
            self.queues[pod].append([self.env.now, work])
            if len(self.queues[pod]) == 1:
                self.ready.append(pod)
                if not self.arrival.triggered:
                    self.arrival.succeed()

    def turns(self):
        last = None
        while True:
            if not self.ready:
                self.arrival = self.env.event()
                yield self.arrival
            pod = self.ready.popleft()
            if last not in (None, pod):
                yield self.env.timeout(SWITCH_S)
            last = pod
            request = self.queues[pod][0]
            slice_s = min(TURN_S, request[1])
            yield self.env.timeout(slice_s)
            request[1] -= slice_s
            if request[1] <= 0:
                self.latencies.append(self.env.now - request[0])
                self.queues[pod].popleft()
            if self.queues[pod]:
                self.ready.append(pod)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--pods-per-gpu", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5000)
    arguments = parser.parse_args()
    env = simpy.Environment()
    latencies = []
    for gpu in range(arguments.gpus):
        Gpu(env, arguments.pods_per_gpu, random.Random(gpu), latencies)
    env.run(until=arguments.seconds)
    latencies.sort()
    quantiles = [1e3 * latencies[int(q * len(latencies))] for q in (0.5, 0.95, 0.99)]
    print(len(latencies), *(f"{q:.1f}" for q in quantiles))


if __name__ == "__main__":
    main()
