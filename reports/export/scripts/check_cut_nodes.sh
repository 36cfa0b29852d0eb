# mig.strategy and the layouts of mig-manager hold for all nodes.
cut=$(kubectl get nodes -l 'nvidia.com/mig.config,nvidia.com/mig.config notin (all-disabled)@pools@' --ignore-not-found -o name)
if [[ -n $cut ]]; then
  echo "$0: these nodes are cut by MIG, and mig.strategy and the layouts of gpu-operator-values.yaml would be theirs as well:" >&2
  echo "$cut: merge both into the operator's values by hand" >&2
  exit 1
fi
