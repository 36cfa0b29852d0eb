others=$(unlabelled)
if [[ -n $others ]]; then
  default=$(kubectl -n @namespace@ get daemonset @daemonset@ --ignore-not-found -o jsonpath='{.spec.template.spec.initContainers[*].env[?(@.name=="DEFAULT_CONFIG")].value}')
  default=${default%% *}
  if [[ -z $default ]]; then
    # Then the plugin takes the config of that name, or the only one.
    names=' '
    for map in $maps; do
      names+=$(kubectl -n @namespace@ get configmap "$map" --ignore-not-found -o go-template="{{range \$name, \$text := .data}}{{\$name}} {{end}}")
    done
    read -r default more <<<"$names"
    [[ -z $more ]] || default=
    [[ "$names " != *' default '* ]] || default=default
  fi
  if [[ -z $default ]]; then
    default=no-label
    mkdir -p kept-configs
    echo 'version: v1' >kept-configs/no-label
  fi
  kept+=(--set "config.default=$default")
  [[ ,@configs@,${configs//$'\n'/,}, == *,"$default",* ]] || configs+=" $default"
fi
