# The plugin of a node whose config is in no values stops.
others=$(kubectl get nodes -l '@label@,@label@ notin (@configs@)@pools@' -o name)
if [[ -n $others ]]; then
  echo "$0: these nodes use a config of the plugin's that @values@ does not have, and would lose their GPUs:" >&2
  echo "${others}: add their configs to it, or drain these nodes first" >&2
  exit 1
fi
