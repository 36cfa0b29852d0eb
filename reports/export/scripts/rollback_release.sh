@labels@
if [[ -s labelled-nodes.txt ]]; then
  while read -r node; do
    kubectl label "$node" nvidia.com/gpu.present- || echo "skipped: $node is gone" >&2
  done <labelled-nodes.txt
  rm labelled-nodes.txt
fi
@release@
