
# Each once: `rollout undo` of what was undone is the way forward again.
undo_rollout() {
  grep -qxF "$1 $2 $3" patched.txt || return 0
  if kubectl -n "$1" get "$2" "$3" >/dev/null 2>&1; then
    kubectl -n "$1" rollout undo "$2/$3"
    # Before the nodes of the others go.
    [[ ${karpenter:-no} == no ]] || kubectl -n "$1" rollout status "$2/$3" --timeout=15m </dev/null || true
  fi
  grep -vxF "$1 $2 $3" patched.txt >patched.new || true
  mv patched.new patched.txt
}
@calls@
