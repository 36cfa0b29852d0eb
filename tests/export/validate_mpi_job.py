#!/usr/bin/env python3
"""The MPIJob of tools/README.md against the CRD of Kubeflow's MPI operator, and the image that it is of.

    validate_mpi_job.py README
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from validators import Problems, pinned, tool


def verdict(text):
    crds = tool("crds", "mpi-operator-" + pinned()["MPI_OPERATOR_VERSION"])
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return subprocess.run([tool("bin", "go_validators"), "objects", crds, file.name], capture_output=True,
                              text=True, check=False)


def main():
    problems = Problems()
    readme = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    job = re.search(r"```yaml\n(apiVersion: kubeflow.*?)```", readme, re.DOTALL)[1]
    good = verdict(job)
    problems.check(good.returncode == 0 and good.stdout.strip() == "1", "the MPIJob", good.stderr)
    problems.check(verdict(job.replace("slotsPerWorker: 8", "slotsPerWorker: eight")).returncode != 0,
                   "an MPIJob with a word for a number", "is accepted")
    image = (pathlib.Path(sys.argv[1]).parent / "image/Containerfile.mpi").read_text(encoding="utf-8")
    problems.check(set(re.findall(r"image: (\S+)", job)) == set(re.findall(r"-t (\S+)", image)), "the MPIJob",
                   "its image is not the one of Containerfile.mpi")
    [server] = re.findall(r'^CMD (\[.*\])$', image, re.MULTILINE)
    problems.check(f"command: {server}".replace('"', "") in job, "the workers of the MPIJob", "are not the image's SSH server")
    of_keys = re.search(r"sshAuthMountPath: (\S+)", job)[1]
    problems.check(f"HostKey {of_keys}/id_rsa" in image, "the keys of the operator", "are not where the server looks")
    problems.exit()


if __name__ == "__main__":
    main()
