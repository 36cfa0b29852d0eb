# Pods for nodes that nobody makes stay Pending, while the roll-out takes the old ones. A NodePool that is there makes
# them if its template has the labels by which plugin and pods find them.
check_nodes() {
  local nodes
  nodes=$(kubectl get nodes -l "$1" --ignore-not-found -o name)
  [[ -z $nodes ]] || return 0
  local name=${1#*=} what='no NodePool makes such' label labels missing=
  if labels=$(kubectl get nodepools.karpenter.sh "$name" -o 'jsonpath={.spec.template.metadata.labels}' 2>/dev/null); then
    for label in "${@:2}"; do
      [[ $labels == *"\"${label%%=*}\":\"${label#*=}\""* ]] || missing+=" $label"
    done
    [[ -n $missing ]] || return 0
    what="NodePool $name makes nodes without$missing"
  fi
  echo "$0: no node has $1, and $what: @help@" >&2
  exit 1
}
@calls@
