if kubectl get crd scaledobjects.keda.sh >/dev/null 2>&1; then
  @line@else
  echo 'skipped: KEDA is not installed; see pods/keda.yaml' >&2
fi
