# A release that is there keeps its values: without its runtimeClassName or its tolerations nodes would lose their GPUs.
listed=$(helm list -n @namespace@ --filter '^@name@$' -o json)
if [[ $listed == *'"revision"'* ]]; then
  if [[ $(helm upgrade --help) != *reset-then-reuse-values* ]]; then
    echo "$0: helm 3.14 or newer is needed: older ones do not keep the values of release @name@" >&2
    exit 1
  fi
  kept+=(--reset-then-reuse-values --set config.name=)
fi
