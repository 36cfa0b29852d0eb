if [[ $karpenter == yes ]]; then
  # What there is of these before, for rollback.sh.
  if [[ ! -e karpenter-before.yaml ]]; then
    there=$(objects | kubectl get --ignore-not-found -o name -f -)
    : >before.new
    if [[ -n $there ]]; then
      objects | kubectl get --ignore-not-found -o yaml -f - | sed -E '/^ +(resourceVersion|uid):/d' >before.new
    fi
    mv before.new karpenter-before.yaml
  fi
  objects | kubectl apply -f -
fi
