"""M/M/1 on SimPy. Argument: customers. Prints the mean sojourn."""

import collections
import random
import sys

import simpy


def mean_sojourn(customers):
    draws = random.Random(1)
    env = simpy.Environment()
    arrived = collections.deque()
    sojourns = 0.0

    def arrivals():
        while True:
            yield env.timeout(draws.expovariate(0.9))
            arrived.append(env.now)
            if idle and not idle[0].triggered:
                idle[0].succeed()

    idle = []

    def server():
        nonlocal sojourns
        for _ in range(customers):
            if not arrived:
                idle[:] = [env.event()]
                yield idle[0]
            yield env.timeout(draws.expovariate(1.0))
            sojourns += env.now - arrived.popleft()

    env.process(arrivals())
    env.run(until=env.process(server()))
    return sojourns / customers


print(f"{mean_sojourn(int(sys.argv[1])):.4f}")
