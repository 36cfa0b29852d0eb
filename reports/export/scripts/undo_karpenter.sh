
if [[ $karpenter == yes && ! -e karpenter-before.yaml ]]; then
  echo "skipped: apply.sh --karpenter has not been run here, or was taken back" >&2
elif [[ $karpenter == yes ]]; then
  objects() { @objects@; }
  names=$(objects | kubectl get --ignore-not-found -o name -f -)
  before=''
  if [[ -s karpenter-before.yaml ]]; then
    kubectl apply -f karpenter-before.yaml
    before=$(kubectl get -o name -f karpenter-before.yaml)
  fi
  # All at once: a node class stays until no node is of it.
  mapfile -t gone < <(grep -vxF -e '' -e "$before" <<<"$names")
  if ((${#gone[@]} > 0)); then kubectl delete --ignore-not-found "${gone[@]}"; fi
  rm karpenter-before.yaml
fi
