if [[ -z $policy ]]; then
  echo "$0: no ClusterPolicy here, and these values are for a GPU Operator that is there: export without --gpu-operator" >&2
  echo "(in the scenario: gpuSoftware.gpuOperator)" >&2
  exit 1
fi
# Its plugin reads one ConfigMap on all nodes.
own=$(of_policy .spec.devicePlugin.config.name)
if [[ -n $own && $own != slicewise-plugin-configs ]]; then
  echo "$0: the device plugin of all nodes reads its configs from ConfigMap $own, which these values would replace:" >&2
  echo "add those of gpu-operator-values.yaml to it, and label the nodes of the pools by hand" >&2
  exit 1
fi
