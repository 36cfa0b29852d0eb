if [[ -z $policy ]]; then
  echo "$0: no ClusterPolicy here, and these values are for a GPU Operator that is there: export without --gpu-operator" >&2
  exit 1
fi
