"""The layout of an image that is made without a builder. What is in the real one, and that it runs: static_image_test.py."""

import gzip
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

from program import BINARY, ROOT, main

NOBODY = 65532


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        # Any program without libraries stands in for both.
        (folder / "program").write_bytes(b"#!/no/such/shell\n")
        cls.root, cls.layout = folder / "root", folder / "layout"
        subprocess.run([ROOT / "tools/image/root", folder / "program", folder / "program", cls.root], check=True, timeout=300)
        subprocess.run([ROOT / "tools/image/oci", cls.root, cls.layout, "0.1.0"], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)

    def blob(self, descriptor, layout=None):
        content = ((layout or self.layout) / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        self.assertEqual(len(content), descriptor["size"])
        self.assertEqual("sha256:" + hashlib.sha256(content).hexdigest(), descriptor["digest"])
        return content

    def images(self, layout):
        """What the one name of a layout stands for: skopeo and containerd see no more of it."""
        (named,) = json.loads((layout / "index.json").read_text())["manifests"]
        self.assertEqual(named["annotations"], {"org.opencontainers.image.ref.name": "0.1.0"})
        self.assertEqual(named["mediaType"], "application/vnd.oci.image.index.v1+json")
        return json.loads(self.blob(named, layout))["manifests"]

    def image(self):
        manifest = json.loads(self.blob(self.images(self.layout)[0]))
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

    def test_containerfiles_configure_what_their_packages_suffice_for(self):
        """They configured the tests, too, without GoogleTest, and in the folder that a checkout had built in."""
        for file in ROOT.glob("tools/image/Containerfile*"):
            configured = re.findall(r"cmake --preset release\b(.*)", file.read_text(encoding="utf-8"))
            self.assertEqual([words.strip(" \\") for words in configured], ["-DSLICEWISE_TESTS=OFF"], file.name)
        self.assertIn("build", (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines())

    def test_the_same_root_is_the_same_image(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder, "layout")
            subprocess.run([ROOT / "tools/image/oci", self.root, again, "0.1.0"], check=True, timeout=300,
                           stdout=subprocess.DEVNULL)
            self.assertEqual((again / "index.json").read_bytes(), (self.layout / "index.json").read_bytes())

    def test_another_architecture_is_another_manifest_by_the_same_name(self):
        """Both had the name in index.json: for skopeo the image was amd64 alone."""
        with tempfile.TemporaryDirectory() as folder:
            both = pathlib.Path(folder, "layout")
            subprocess.run([ROOT / "tools/image/oci", self.root, both, "0.1.0", f"arm64={self.root}"], check=True,
                           timeout=300, stdout=subprocess.DEVNULL)
            platforms = [one["platform"]["architecture"] for one in self.images(both)]
            self.assertEqual(len(platforms), 2)
            self.assertIn("arm64", platforms)

    def test_what_needs_libraries_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = subprocess.run([ROOT / "tools/image/root", BINARY, "/bin/true", folder], capture_output=True,
                                     text=True, check=False, timeout=60)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("is not statically linked", refused.stderr)


if __name__ == "__main__":
    main()
