# A node group that exists keeps its instance type, whatever eksctl.yaml says of that name.
check_type() {
  local nodes
  nodes=$(kubectl get nodes -l "$1,node.kubernetes.io/instance-type!=$2" --ignore-not-found -o name)
  if [[ $nodes == *node/* ]]; then
    echo "$0: nodes with $1 are no $2: give the new node group a name of its own, in all files" >&2
    exit 1
  fi
}
@calls@