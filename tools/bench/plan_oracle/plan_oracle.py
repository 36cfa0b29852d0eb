#!/usr/bin/env python3
"""Does `slicewise plan` find the cheapest pools? An exhaustive search that asks only `slicewise run`.

    tools/bench/plan_oracle/plan_oracle.py build/release/tools/slicewise/slicewise --problems 30
    tools/bench/plan_oracle/plan_oracle.py build/release/tools/slicewise/slicewise --large 20

Each problem is drawn from its own seed. Pools stand when everything holds in at least 19 of 20 seeds
that the plan has not seen. Of all divisions of the workloads into pools, with every type, way of
sharing, number of pods per GPU and of nodes, the cheapest are tried until all pools of one stand, or
cost as much as the plan does where that holds: the optimum. --large holds the plan of a fleet against
what people do. Exit status 1: a plan is dearer than the optimum, or than what people do, by more than
--tolerance, or does not hold; with --certain-memory, or the optimum costs less than the plan's bound.
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile
import time

import problems
from pools import Judge, Pool, Program, candidates, holds, memory_of, pods_of

SEEDS = range(1001, 1021)
FLEET_SEEDS = range(1001, 1004)
MEMORY_CLASSES_GIB = (2, 4, 8, 16, 32)


def divisions(names):
    """Every way to divide the names into sets."""
    if not names:
        yield []
        return
    for rest in divisions(names[1:]):
        yield [names[:1], *rest]
        for at, block in enumerate(rest):
            yield [*rest[:at], names[:1] + block, *rest[at + 1:]]


def optimum(base, program, judge, known, certain):
    """What stands and costs less than `known`; [] where nothing does.

    In the division that costs least if all that is left to try stands, one pool is tried, and again.
    """
    spec = base["spec"]
    workloads = {w["name"]: w for w in spec["workloads"]}
    every = list(divisions(tuple(workloads)))
    types = [t for t in spec["planning"]["instanceTypes"] if program.monthly([Pool(t)]) < known]
    left = {block: candidates([workloads[name] for name in block], types, program)
            for division in every for block in division}
    solved = set()
    while True:
        bounds = [sum(program.monthly(left[b][:1]) for b in division) for division in every]
        least = min(bounds)
        if least >= known - 1:
            return []
        best = every[bounds.index(least)]
        doubtful = next((b for b in best if b not in solved), None)
        if doubtful is None:
            return [left[b][0] for b in best]
        if judge.stands(left[doubtful][0], certain):
            solved.add(doubtful)
        else:
            del left[doubtful][0]


class Plan:
    """What `slicewise plan` recommends, and in how many of the seeds it holds."""

    def __init__(self, program, base, seeds, more):
        with tempfile.TemporaryDirectory() as folder:
            problem, plan = pathlib.Path(folder, "problem.json"), pathlib.Path(folder, "plan.json")
            problem.write_text(json.dumps(base), encoding="utf-8")
            started = time.monotonic()
            found = program.json("plan", "-f", str(problem), "-q", "--no-headroom", "--no-flips", *more)
            self.seconds = time.monotonic() - started
            plan.write_text(json.dumps(found), encoding="utf-8")
            best = found["options"][0] if found["options"] else {"monthlyUsd": math.inf, "pools": []}
            self.monthly = best["monthlyUsd"]
            self.bound = found.get("lowerBoundUsdPerMonth") or 0
            self.pools = [Pool(p["instanceType"], tuple(p["workloads"]), p["strategy"], p["replicas"],
                               nodes=p["nodes"]) for p in best["pools"]]
            self.held = sum(holds(program.run(seed, file=f"{plan}#1")) for seed in seeds if self.pools)

    def dearer(self, least):
        """By what part; 0 where there is none in either."""
        return 0 if self.monthly == least else self.monthly / least - 1


def dollars(amount):
    return "none" if math.isinf(amount) else f"${amount:,.0f}"


def say(text, pools=()):
    print(text, *(f"        {pool}" for pool in pools), sep="\n", flush=True)


def small(program, arguments):
    """Plans of small problems against their optimum; how many fail."""
    failed = even = 0
    for seed in range(arguments.seed, arguments.seed + arguments.problems):
        base = (problems.problem_with_several_gpus if arguments.several_gpus
                else problems.small_problem)(seed)
        judge = Judge(program, base, SEEDS, may_fail=1)
        plan = Plan(program, base, SEEDS, arguments.plan)
        stands = plan.held >= len(SEEDS) - 1
        cheaper = optimum(base, program, judge, plan.monthly if stands else math.inf,
                          arguments.certain_memory)
        dearer = plan.dearer(program.monthly(cheaper)) if cheaper else 0
        wrong = dearer > arguments.tolerance or bool(plan.pools) and not stands
        # What chance makes of memory is not bounded.
        least = program.monthly(cheaper) if cheaper else plan.monthly
        wrong = wrong or arguments.certain_memory and plan.bound > 1.0001 * least
        failed += wrong
        even += abs(dearer) <= arguments.tolerance
        say(f"{seed} on {', '.join(base['spec']['planning']['instanceTypes'])}: plan "
            f"{dollars(plan.monthly)}, bound {dollars(plan.bound)}, holds {plan.held}/{len(SEEDS)}{', FAILS' if wrong else ''}",
            plan.pools)
        if cheaper:
            say(f"    optimum {dollars(program.monthly(cheaper))}, the plan {dearer:+.0%}", cheaper)
    say(f"{arguments.problems} problems: {even} plans cost what the optimum does, {failed} fail")
    return failed


def cheapest(pools, judge, certain=True):
    return next((pool for pool in pools if judge.stands(pool, certain)), None)


def all_exclusive(workloads, types, program, judge):
    """Each pod has a GPU of the cheapest type on which the workload stands."""
    homes = {}
    for workload in workloads:
        pool = cheapest(candidates([workload], types, program, lambda instance, *_: [Pool(instance)]),
                        judge)
        if pool is None:
            return []
        homes.setdefault(pool.instance, []).append(workload)
    return [Pool(instance, tuple(w["name"] for w in members),
                 nodes=math.ceil(sum(map(pods_of, members)) / program.types[instance]["gpuCount"]))
            for instance, members in homes.items()]


def first_fit_decreasing(workloads, types, program, judge, slots=4):
    """Time-slicing x4 on the GPUs that the pods fill, largest first; more nodes until it stands."""
    def fewest(instance):
        most = program.types[instance]["gpuMemoryBytes"]
        gpus = []
        for size in sorted((memory_of(w) for w in workloads for _ in range(pods_of(w))), reverse=True):
            room = next((g for g in gpus if len(g) < slots and sum(g) + size <= most), None)
            if room is None:
                gpus.append(room := [])
            room.append(size)
        return len(gpus) / program.types[instance]["gpuCount"]

    pools = candidates(workloads, types, program,
                       lambda instance, *_: [Pool(instance, sharing="timeSlicing", replicas=slots)])
    pool = cheapest((p for p in pools if p.nodes >= fewest(p.instance)), judge, certain=False)
    return [pool] if pool else []


def pool_per_memory_class(workloads, types, program, judge):
    """Time-sliced among as many pods as always fit, or a half, a quarter or an eighth of them."""
    def sliced(instance, members, _):
        context = 1 << 29
        fit = program.types[instance]["gpuMemoryBytes"] // (max(map(memory_of, members)) + context)
        for replicas in {fit >> shift for shift in range(4)} - {0}:
            sharing = "timeSlicing" if replicas > 1 else "exclusive"
            yield Pool(instance, sharing=sharing, replicas=replicas)

    classes = {}
    for workload in workloads:
        most = next(gib for gib in MEMORY_CLASSES_GIB if memory_of(workload) <= gib << 30)
        classes.setdefault(most, []).append(workload)
    pools = [cheapest(candidates(members, types, program, sliced), judge)
             for members in classes.values()]
    return [] if None in pools else pools


def large(program, arguments):
    """A fleet's plan beside what people do; how much of it is cheaper."""
    base = problems.fleet(arguments.large, arguments.seed, arguments.instances.split(","))
    workloads = base["spec"]["workloads"]
    plan = Plan(program, base, FLEET_SEEDS, arguments.plan)
    say(f"{len(workloads)} services, {sum(map(pods_of, workloads))} pods: plan {dollars(plan.monthly)}, "
        f"bound {dollars(plan.bound)}, in {plan.seconds:.1f} s, holds {plan.held}/{len(FLEET_SEEDS)}", plan.pools)
    judge = Judge(program, base, FLEET_SEEDS, may_fail=0)
    failed = plan.held < len(FLEET_SEEDS)
    for habit in (all_exclusive, first_fit_decreasing, pool_per_memory_class):
        pools = habit(workloads, base["spec"]["planning"]["instanceTypes"], program, judge)
        dearer = plan.dearer(program.monthly(pools))
        failed += dearer > arguments.tolerance
        say(f"{habit.__name__.replace('_', ' ')}: {dollars(program.monthly(pools))}, the plan "
            f"{dearer:+.0%}", pools)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the slicewise program")
    parser.add_argument("--seed", type=int, default=1, help="of the first problem, or of the fleet")
    parser.add_argument("--problems", type=int, default=30, help="small ones, one seed each")
    parser.add_argument("--several-gpus", action="store_true",
                        help="small problems in which some pods have 2 to 4 GPUs")
    parser.add_argument("--large", type=int, metavar="N", help="a fleet of N services instead")
    parser.add_argument("--instances", default="g4dn.xlarge,g5.xlarge,g6e.xlarge", help="of the fleet")
    parser.add_argument("--tolerance", type=float, default=0.01, help="that a plan may be dearer by")
    parser.add_argument("--certain-memory", action="store_true",
                        help="the optimum is one whose memory fits however pods meet")
    parser.add_argument("--plan", nargs=argparse.REMAINDER, default=[], help="more flags of plan")
    arguments = parser.parse_args()
    return 1 if (large if arguments.large else small)(Program(arguments.binary), arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
