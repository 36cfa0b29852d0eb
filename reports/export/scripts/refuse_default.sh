present=
[[ -z $policy ]] || present=$(of_policy .spec.devicePlugin.config.default)
others=$(unlabelled)
if [[ -n $others && $present != "$(sed -n 's/^    default: //p' @values@ | tr -d '"')" ]]; then
  echo "$0: nodes of other pools have no label $label, and would get another config of the plugin's, the default of @values@:" >&2
  echo "$others: label them with a config first" >&2
  exit 1
fi
