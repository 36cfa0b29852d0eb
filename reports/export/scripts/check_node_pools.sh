# karpenter.yaml gives its NodePools one type each, with GPUs: Karpenter drains nodes of theirs without.
if [[ $karpenter == yes ]]; then
  objects() { @objects@; }
  objects | kubectl apply --dry-run=server -f - >/dev/null  # whether the API server takes them
  others=$(kubectl get nodes -l 'karpenter.sh/nodepool in (@names@),!@gpus@,node.kubernetes.io/instance-type notin (@types@)' --ignore-not-found -o name)
  if [[ -n $others ]]; then
    echo "$0: karpenter.yaml has types with GPUs alone for NodePools of these nodes, which have none and would go:" >&2
    echo "${others}: let a NodePool of another name make those without GPUs first" >&2
    exit 1
  fi
fi
