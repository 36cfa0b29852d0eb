"""The image without a builder: what is in it, that it runs by itself, and that its layout is one."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from program import BINARY, ROOT, environment, main, skip_without

BUILD = pathlib.Path(BINARY).parents[2]
NOBODY = 65532


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if subprocess.run(["bash", "-c", "ldconfig -p | grep -q libcurl.so.4"], check=False).returncode != 0:
            skip_without("libcurl4")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        # Any program without libraries stands in for kubectl.
        (folder / "kubectl").write_bytes(b"#!/no/such/shell\n")
        cls.root, cls.layout = folder / "root", folder / "layout"
        subprocess.run([ROOT / "tools/image/root", BUILD, folder / "kubectl", cls.root], check=True, timeout=300)
        subprocess.run([ROOT / "tools/image/oci", cls.root, cls.layout, "0.1.0"], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)

    def blob(self, descriptor):
        content = (self.layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        self.assertEqual(len(content), descriptor["size"])
        self.assertEqual("sha256:" + hashlib.sha256(content).hexdigest(), descriptor["digest"])
        return content

    def image(self):
        index = json.loads((self.layout / "index.json").read_text())
        manifest = json.loads(self.blob(index["manifests"][0]))
        return manifest, json.loads(self.blob(manifest["config"]))

    def test_the_layout_holds_together(self):
        self.assertEqual(json.loads((self.layout / "oci-layout").read_text()), {"imageLayoutVersion": "1.0.0"})
        manifest, config = self.image()
        layer = gzip.decompress(self.blob(manifest["layers"][0]))
        self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(layer).hexdigest()])
        self.assertEqual(config["config"]["User"], f"{NOBODY}:{NOBODY}")
        names = {entry.name: entry for entry in tarfile.open(fileobj=io.BytesIO(layer)).getmembers()}
        self.assertEqual(names["usr/bin/kubectl-slicewise"].linkname, "slicewise")
        self.assertEqual(names["advice"].uid, NOBODY)
        self.assertFalse([name for name in names if name.endswith(("/sh", "/bash", "/apt", "/busybox"))])
        self.assertFalse([name for name, entry in names.items() if entry.mode & 0o6000], "setuid")

    def test_the_same_root_is_the_same_image(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder, "layout")
            subprocess.run([ROOT / "tools/image/oci", self.root, again, "0.1.0"], check=True, timeout=300,
                           stdout=subprocess.DEVNULL)
            self.assertEqual((again / "index.json").read_bytes(), (self.layout / "index.json").read_bytes())

    def test_another_architecture_is_another_manifest(self):
        with tempfile.TemporaryDirectory() as folder:
            both = pathlib.Path(folder, "layout")
            subprocess.run([ROOT / "tools/image/oci", self.root, both, "0.1.0", f"arm64={self.root}"], check=True,
                           timeout=300, stdout=subprocess.DEVNULL)
            platforms = [one["platform"]["architecture"]
                         for one in json.loads((both / "index.json").read_text())["manifests"]]
            self.assertEqual(len(platforms), 2)
            self.assertIn("arm64", platforms)

    def test_it_runs_by_itself_as_nobody_and_loads_libcurl(self):
        if os.geteuid() != 0 or shutil.which("chroot") is None:
            skip_without("root, to enter the image as its user")
        manifest, _ = self.image()
        with tempfile.TemporaryDirectory() as folder:
            layer = gzip.decompress(self.blob(manifest["layers"][0]))
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                archive.extractall(folder)
            os.chmod(folder, 0o755)

            def inside(*words):
                return subprocess.run(["chroot", f"--userspec={NOBODY}:{NOBODY}", folder, *words], text=True,
                                      capture_output=True, check=False, timeout=60, env=environment())
            self.assertIn("slicewise ", inside("/usr/bin/slicewise", "version").stdout)
            self.assertIn("Examples:", inside("/usr/bin/kubectl-slicewise", "advise", "--help").stdout)
            refused = inside("/usr/bin/slicewise", "import", "prometheus", "--url", "http://127.0.0.1:1")
            self.assertNotIn("libcurl", refused.stderr)
            self.assertIn("connect", refused.stderr)


if __name__ == "__main__":
    main()
