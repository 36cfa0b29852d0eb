
# New pods may have to wait for a node.
late=no
while read -r namespace kind name; do
  kubectl -n "$namespace" rollout status "$kind/$name" --timeout=15m </dev/null || late=yes
done <patched.txt
if [[ $late == yes ]]; then
  echo "not all of their pods are new yet: see VERIFY.md, or take it back with ./rollback.sh" >&2
  exit 1
fi
