# An operator that is there keeps its release, its version, and what its ClusterPolicy says of driver,
# toolkit and DCGM: without a driver no pod has a GPU.
operator=@name@ operators=@namespace@ revision=0 keep=(--version @version@ --create-namespace)
policy=$(kubectl get crd clusterpolicies.nvidia.com --ignore-not-found -o name)
[[ -z $policy ]] || policy=$(kubectl get clusterpolicies.nvidia.com -o name)
policy=${policy%%$'\n'*}
of_policy() { kubectl get "$policy" -o jsonpath="{$1}"; }
if [[ -n $policy ]]; then
  operator=$(of_policy '.metadata.annotations.meta\.helm\.sh/release-name')
  operators=$(of_policy '.metadata.annotations.meta\.helm\.sh/release-namespace')
  listed=
  [[ -z $operator ]] || listed=$(helm list -n "$operators" --filter "^$operator\$" -o json)
  if [[ ! $listed =~ \"chart\":\"@name@-([^\"]+)\" ]]; then
    echo "$0: $policy is no release of Helm's of the chart @name@ (Argo CD, OLM, a chart around it?):" >&2
    echo "merge gpu-operator-values.yaml into the values of what installs it" >&2
    exit 1
  fi
  keep=(--version "${BASH_REMATCH[1]}" --reset-then-reuse-values)
  [[ ! $listed =~ \"revision\":\"?([0-9]+) ]] || revision=${BASH_REMATCH[1]}
  if [[ $(helm upgrade --help) != *reset-then-reuse-values* ]]; then
    echo "$0: helm 3.14 or newer is needed: older ones do not keep the operator's values" >&2
    exit 1
  fi
  for part in driver toolkit dcgm; do
    enabled=$(of_policy ".spec.$part.enabled")
    [[ -z $enabled ]] || keep+=(--set "$part.enabled=$enabled")
  done
fi
