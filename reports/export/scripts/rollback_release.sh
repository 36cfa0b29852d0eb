@labels@
if [[ -s labelled-nodes.txt ]]; then
  while read -r node; do
    kubectl label "$node" nvidia.com/gpu.present- || echo "skipped: $node is gone" >&2
  done <labelled-nodes.txt
  rm labelled-nodes.txt
fi
# After a first install there is no revision before: then the release is removed.
revisions=$(helm history @name@ -n @namespace@ -o json | grep -o '"revision"' | wc -l)
if ((revisions > 1)); then
  helm rollback @name@ -n @namespace@
else
  helm uninstall @name@ -n @namespace@
fi
