# The plugin of a node whose config is in no values stops: the release keeps those that it has.
label=@label@
kept=()
configs=$(kubectl get nodes -l '@label@,@label@ notin (@configs@)@pools@' --ignore-not-found --no-headers -o custom-columns="CONFIG:.metadata.labels.${label//./\\.}" | sort -u)
maps=@maps@
# Nodes of other pools without a config have the default, and keep the one that there is.
unlabelled() {
  local gpu
  for gpu in nvidia.com/gpu.present feature.node.kubernetes.io/pci-10de.present; do
    kubectl get nodes -l "$gpu=true,"'!@label@@pools@' --ignore-not-found -o name || return
  done
  # That another plugin serves.
  kubectl get nodes -l '!@label@@pools@' -o go-template='{{range .items}}{{if .status.capacity}}{{if index .status.capacity "nvidia.com/gpu"}}node/{{.metadata.name}}{{"\n"}}{{end}}{{end}}{{end}}'
}
@default@
for config in $configs; do
  mkdir -p kept-configs
  for map in $maps; do
    text=$(kubectl -n @namespace@ get configmap "$map" --ignore-not-found -o jsonpath="{.data['${config//./\\.}']}")
    [[ -z $text ]] || echo "$text" >"kept-configs/$config"
  done
  if [[ ! -s kept-configs/$config ]]; then
    echo "$0: nodes use config $config of the plugin's, which neither @values@ nor the release has, and would lose their GPUs:" >&2
    echo "write it to kept-configs/$config, or drain these nodes first" >&2
    exit 1
  fi
  kept+=(--set-file "@path@.${config//./\\.}=kept-configs/$config")
done
