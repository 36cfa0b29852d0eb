"""The image of tools/image/build, for both architectures: no library, and the bytes of the program. By night:
tools/test image, which builds it (SLICEWISE_IMAGE: where)."""

import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import threading
import unittest

from program import ROOT, environment, main, run

NOBODY = 65532
EXAMPLES = ("aws-cifar10.yaml", "shared-inference.yaml")


def folder():
    return pathlib.Path(os.environ["SLICEWISE_IMAGE"])


def images():
    """Manifest and layer of each architecture, as they lie in the layout."""
    layout = folder() / "layout"

    def blob(descriptor):
        path = layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")
        assert "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() == descriptor["digest"]
        return path

    (named,) = json.loads((layout / "index.json").read_text())["manifests"]
    for one in json.loads(blob(named).read_text())["manifests"]:
        manifest = json.loads(blob(one).read_text())
        yield one["platform"]["architecture"], one["digest"], blob(manifest["layers"][0])


class StaticImage(unittest.TestCase):
    def test_no_program_asks_for_a_loader_or_a_library(self):
        seen = {}
        for architecture, _, layer in images():
            with tempfile.TemporaryDirectory() as root, tarfile.open(layer) as archive:
                archive.extractall(root)
                self.assertEqual(list(pathlib.Path(root).rglob("*.so*")), [])
                told = subprocess.run(["readelf", "-hld", f"{root}/usr/bin/slicewise"], capture_output=True, text=True,
                                      check=True).stdout
            self.assertNotIn("INTERP", told)
            self.assertNotIn("NEEDED", told)
            self.assertIn("Position-Independent", told)
            seen[architecture] = re.search(r"Machine: +(.*)", told)[1]
        self.assertEqual(seen, {"amd64": "Advanced Micro Devices X86-64", "arm64": "AArch64"})

    def test_it_is_the_program_in_a_root_of_its_own(self):
        for name in EXAMPLES:
            asked = ["run", "-f", f"scenarios/examples/{name}", "-o", "json", "-q"]
            expected = run(*asked)
            self.assertGreater(len(expected.stdout), 10_000)
            for architecture, _, layer in images():
                with self.subTest(name=name, architecture=architecture), tempfile.TemporaryDirectory() as root:
                    with tarfile.open(layer) as archive:
                        archive.extractall(root)
                    place = pathlib.Path(root, asked[2])
                    place.parent.mkdir(parents=True)
                    place.write_bytes((ROOT / asked[2]).read_bytes())
                    os.chmod(root, 0o755)
                    told = self.inside(root, architecture, *asked)
                    self.assertEqual((told.returncode, told.stdout, told.stderr),
                                     (expected.returncode, expected.stdout, expected.stderr))

    def inside(self, root, architecture, *words):
        """As nobody, with the image for root and nothing else; arm64 under qemu, which cannot be shut in with it."""
        if architecture == "arm64" and os.uname().machine != "aarch64":
            return subprocess.run(["qemu-aarch64", f"{root}/usr/bin/slicewise", *words], cwd=root, text=True,
                                  capture_output=True, check=False, timeout=600, env=environment())
        enter = (["chroot", f"--userspec={NOBODY}:{NOBODY}"] if os.geteuid() == 0
                 else ["unshare", "--map-root-user", "chroot"])
        return subprocess.run([*enter, root, "/usr/bin/slicewise", *words], text=True, capture_output=True, check=False,
                              timeout=600, env=environment())

    def test_a_server_is_asked_by_name_and_the_answer_is_read(self):
        asked = []

        class Prometheus(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = b'{"status":"success","data":{"resultType":"matrix","result":[]}}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Prometheus)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            for architecture, _, layer in images():
                asked.clear()
                with tempfile.TemporaryDirectory() as root:
                    with tarfile.open(layer) as archive:
                        archive.extractall(root)
                    os.chmod(root, 0o755)
                    pathlib.Path(root, "etc/hosts").write_text("127.0.0.1 localhost prometheus.test\n", encoding="utf-8")
                    host = "localhost" if architecture == "arm64" else "prometheus.test"
                    told = self.inside(root, architecture, "import", "prometheus", "--url",
                                       f"http://{host}:{server.server_port}")
                self.assertIn("/api/v1/query_range", " ".join(asked), told.stderr)
        finally:
            server.shutdown()
            server.server_close()

    def test_what_is_inside_is_said(self):
        for architecture, digest, _ in images():
            document = json.loads((folder() / f"{architecture}.spdx.json").read_text(encoding="utf-8"))
            packages = {package["name"]: package for package in document["packages"]}
            self.assertEqual("sha256:" + packages["slicewise"]["checksums"][0]["checksumValue"], digest)
            for inside in ("curl", "libssl-dev", "zlib1g-dev", "libzstd-dev", "libyaml-cpp-dev", "ca-certificates"):
                self.assertTrue(packages[inside]["versionInfo"][0].isdigit(), inside)
            self.assertIn("kubectl", packages)
            self.assertIn(f"arch={architecture}", packages["libssl-dev"]["externalRefs"][0]["referenceLocator"])
            named = {package["SPDXID"] for package in document["packages"]}
            self.assertEqual({each["relatedSpdxElement"] for each in document["relationships"]}, named)
            self.assertEqual(len(named), len(document["packages"]))


if __name__ == "__main__":
    main()
