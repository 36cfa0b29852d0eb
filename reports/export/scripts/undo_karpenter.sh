
if [[ $karpenter == yes ]]; then
  objects() { @objects@; }
  before=''
  if grep -qs '^ *kind: \(NodePool\|EC2NodeClass\|NodeOverlay\)$' karpenter-before.yaml; then
    kubectl apply -f karpenter-before.yaml
    before=$(kubectl get -o name -f karpenter-before.yaml)
  fi
  for name in $(objects | kubectl get --ignore-not-found -o name -f -); do
    grep -qxF "$name" <<<"$before" || kubectl delete --ignore-not-found "$name"
  done
  rm -f karpenter-before.yaml
fi
