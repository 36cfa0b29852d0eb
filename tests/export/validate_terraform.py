"""`export --to terraform`: parsed as HCL, and held against the arguments that its resources have."""

import contextlib
import io
import shutil
import subprocess
import sys

from validators import Problems, load_all_yaml, pinned, tool

# (required, optional) arguments and blocks. Sources: hashicorp/terraform-provider-aws website/docs/r,
# hashicorp/terraform-provider-helm docs/resources/release.md, alekc/terraform-provider-kubectl
# docs/resources/kubectl_manifest.md. The providers' schemas need their registry.
ARGUMENTS = {
    "aws_eks_node_group": (
        {"cluster_name", "node_role_arn", "scaling_config", "subnet_ids"},
        {"ami_type", "capacity_type", "disk_size", "instance_types", "labels", "launch_template",
         "node_group_name", "taint", "lifecycle"}),
    "aws_launch_template": (
        set(), {"name_prefix", "user_data", "block_device_mappings",
                "capacity_reservation_specification"}),
    "aws_autoscaling_group_tag": ({"autoscaling_group_name", "tag"}, {"for_each"}),
    "helm_release": ({"name", "chart"},
                     {"repository", "version", "namespace", "create_namespace", "values"}),
    "kubectl_manifest": ({"yaml_body"}, set()),
}
BLOCKS = {
    "scaling_config": {"desired_size", "max_size", "min_size"},
    "taint": {"key", "value", "effect"},
    "launch_template": {"id", "version"},
    "tag": {"key", "value", "propagate_at_launch"},
    "lifecycle": {"ignore_changes"},
    "capacity_reservation_specification": {"capacity_reservation_preference"},
    "block_device_mappings": {"device_name", "ebs"},
    "ebs": {"volume_size", "volume_type", "encrypted"},
}


def bare(name):
    return name.strip('"')


def known(of):
    """What the parser adds of its own has underscores around it."""
    return {key for key in of if not key.startswith("__")}


def check_block(problems, path, name, of):
    for one in of if isinstance(of, list) else [of]:
        if not isinstance(one, dict):
            continue
        for key in known(one) - BLOCKS[name]:
            problems.check(False, path, f"{name} has no {key}")
        for key in known(one) & set(BLOCKS):
            check_block(problems, path, key, one[key])


def check_resource(problems, path, kind, name, of):
    problems.check(kind in ARGUMENTS, path, f"resource {kind}")
    required, optional = ARGUMENTS.get(kind, (set(), set()))
    problems.check(required <= known(of), path, f"{kind} {name} lacks {required - known(of)}")
    problems.check(known(of) <= required | optional, path,
                   f"{kind} {name} has {known(of) - required - optional}")
    for key in known(of) & set(BLOCKS):
        check_block(problems, path, key, of[key])
    if kind == "aws_eks_node_group":
        sizes = of["scaling_config"][0]
        least, start, most = (int(str(sizes.get(key, -1)).strip('"')) for key in
                              ("min_size", "desired_size", "max_size"))
        problems.check(least <= start <= most, path, f"sizes of {name}")
        problems.check(("disk_size" in of) != ("launch_template" in of), path, f"disk of {name}")


def check_text(problems, path, text, parse):
    document = parse(text)
    resources = [(bare(kind), bare(name), of) for block in document.get("resource", [])
                 for kind, named in block.items() if not kind.startswith("__")
                 for name, of in named.items()]
    problems.check(resources, path, "no resource")
    labels = [(kind, name) for kind, name, _ in resources]
    problems.check(len(labels) == len(set(labels)), path, "a resource stands twice")
    for kind, name, of in resources:
        check_resource(problems, path, kind, name, of)
    for manifest in text.split("<<-YAML\n")[1:]:
        body = "\n".join(line[4:] for line in manifest.split("\n  YAML\n")[0].split("\n"))
        objects = [o for o in load_all_yaml(body) if o]
        problems.check(len(objects) == 1 and "kind" in objects[0], path, "no single object")
    for line in text.splitlines():
        if "path.module}/" in line:
            named = line.split("path.module}/")[1].split('"')[0]
            problems.check((path.parent / named).is_file(), path, f"{named} is missing")


def run_terraform(exports):
    sys.path.insert(0, str(tool("python", "python-hcl2-" + pinned()["PYTHON_HCL_VERSION"])))
    import hcl2  # pylint: disable=import-error,import-outside-toplevel

    problems = Problems()
    terraform = shutil.which("terraform") or shutil.which("tofu")
    paths = sorted(exports.glob("*/*/terraform*/gpu_nodes.tf"))
    for path in paths:
        check_text(problems, path, path.read_text(), hcl2.loads)
    # It is able to refuse.
    text = next(path.read_text() for path in paths if "disk_size" in path.read_text())
    for right, wrong in (("disk_size", "disk_sise"), ("desired_size", "wanted_size"),
                         ("nvdp-values", "other-values")):
        broken = Problems()
        with contextlib.redirect_stdout(io.StringIO()):
            check_text(broken, paths[0], text.replace(right, wrong), hcl2.loads)
        problems.check(broken.count, wrong, "accepted")
    if terraform:
        out = subprocess.run([terraform, "fmt", "-check", "-recursive", "-diff", exports],
                             capture_output=True, text=True, check=False)
        problems.check(out.returncode == 0, "terraform fmt", out.stdout[:2000] + out.stderr[:2000])
    problems.exit(minimum=50)
