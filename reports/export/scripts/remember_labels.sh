# What nodes have of labels before the first apply.sh, for rollback.sh: LABEL=VALUE, or LABEL- where there is none.
remember_labels() {
  touch labels-before.txt
  for label in "${@:2}"; do
    known=$(<labels-before.txt)
    kubectl get nodes -l "$1" --ignore-not-found --no-headers -o custom-columns="NODE:.metadata.name,VALUE:.metadata.labels.${label//./\\.}" |
      while read -r node value; do
        before=$label=$value
        [[ $value != '<none>' ]] || before=$label-
        grep -q "^$node ${label}[=-]" <<<"$known" || echo "$node $before"
      done >>labels-before.txt
  done
}
