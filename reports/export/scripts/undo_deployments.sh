
undo_deployment() {
  if kubectl -n "$1" get deployment "$2" >/dev/null 2>&1; then
    kubectl -n "$1" rollout undo "deployment/$2"
  fi
}
@calls@
