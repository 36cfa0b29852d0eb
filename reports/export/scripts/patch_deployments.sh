
patch_deployment() {
  if kubectl -n "$1" get deployment "$2" >/dev/null 2>&1; then
    kubectl -n "$1" patch deployment "$2" --patch-file "pods/$1-$2.yaml"
  else
    echo "skipped: no Deployment $2 in namespace $1; pods/ is a kustomize component" >&2
  fi
}
@calls@
