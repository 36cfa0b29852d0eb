# The operator's plugin reads one ConfigMap on all nodes.
own=$(kubectl get clusterpolicies.nvidia.com -o jsonpath='{.items[0].spec.devicePlugin.config.name}')
if [[ $own != @name@ ]]; then
  echo "$0: the GPU Operator's device plugin reads ${own:-no ConfigMap}, and not @name@: import the cluster and export anew" >&2
  exit 1
fi
