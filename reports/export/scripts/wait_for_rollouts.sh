
# New pods may have to wait for a node: all of them together have 15 minutes.
deadline=$((SECONDS + 900))
late=no
while read -r namespace kind name; do
  way=$(kubectl -n "$namespace" get "$kind" "$name" --ignore-not-found \
    -o jsonpath='{.metadata.name} {.spec.paused} {.spec.updateStrategy.type}' </dev/null)
  case $way in
    '') continue ;;
    *' true '* | *OnDelete) echo "by hand: $kind $name in namespace $namespace is rolled out when you say so" >&2 ;;
    *)
      left=$((deadline - SECONDS))
      kubectl -n "$namespace" rollout status "$kind/$name" --timeout="$((left > 0 ? left : 1))s" </dev/null || late=yes
      ;;
  esac
done <patched.txt
if [[ $late == yes ]]; then
  echo "not all of their pods are new yet: see VERIFY.md, or take it back with ./rollback.sh" >&2
  exit 1
fi
