# A node group that exists keeps its instance type, whatever eksctl.yaml says of that name.
check_type() {
  if kubectl get nodes -l "$1,node.kubernetes.io/instance-type!=$2" -o name | grep ^node/ >/dev/null; then
    echo "$0: nodes with $1 are no $2: give the new node group a name of its own, in all files" >&2
    exit 1
  fi
}
@calls@