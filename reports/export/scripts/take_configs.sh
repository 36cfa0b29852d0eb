  # Nodes that came since then go back to none.
  take_config() {
    for node in $(kubectl get nodes -l "$1" --ignore-not-found -o name); do
      grep -q "^${node#node/} " labels-before.txt || kubectl label "$node" @label@- ||
        echo "skipped: @label@- of $node" >&2
    done
  }
@calls@
