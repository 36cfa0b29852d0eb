# Pods for nodes that nobody makes stay Pending, while the roll-out takes the old ones.
check_nodes() {
  [[ -z $(kubectl get nodes -l "$1" -o name) ]] || return 0
  ! kubectl get nodepools.karpenter.sh "${1#*=}" >/dev/null 2>&1 || return 0
  echo "$0: no node has $1, and no NodePool makes such: @help@" >&2
  exit 1
}
@calls@
