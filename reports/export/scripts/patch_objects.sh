
# With "server" the API server says whether it takes the patches, and changes nothing.
patch_object() {
  if kubectl -n "$2" get "$3" "$4" >/dev/null 2>&1; then
    said=$(kubectl -n "$2" patch "$3" "$4" --dry-run="$1" --patch-file "pods/$5")
    echo "$said"
    # For rollback.sh: a patch that changes nothing makes no revision to go back from.
    [[ $1 == server || $said == *'(no change)' ]] || grep -qxF "$2 $3 $4" patched.txt || echo "$2 $3 $4" >>patched.txt
  else
    echo "skipped: no $3 $4 in namespace $2; pods/ is a kustomize component" >&2
  fi
}
patch_objects() {
@calls@}
patch_objects server >/dev/null
