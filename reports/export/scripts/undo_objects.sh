
undo_rollout() {
  if kubectl -n "$1" get "$2" "$3" >/dev/null 2>&1; then
    kubectl -n "$1" rollout undo "$2/$3"
  fi
}
@calls@
