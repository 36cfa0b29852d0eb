# What ran the device plugin until now goes before another comes. For rollback.sh:
if [[ ! -e plugins-before.yaml ]]; then
  : >before.new
  for daemon in @daemons@; do
    kubectl -n "${daemon%/*}" get daemonset "${daemon#*/}" --ignore-not-found -o yaml | sed -E '/^ +(resourceVersion|uid):/d' >one.new
    [[ ! -s one.new ]] || { cat one.new; echo ---; } >>before.new
  done
  rm -f one.new
  mv before.new plugins-before.yaml
fi
gone=
# No node is left without a plugin where the other one does not come.
plugins_return() {
  [[ -n $gone ]] || return 0
  echo "$0: stopped: what ran the device plugin comes back" >&2
  kubectl apply -f plugins-before.yaml
}
trap plugins_return ERR
for daemon in @daemons@; do
  gone+=$(kubectl -n "${daemon%/*}" delete daemonset "${daemon#*/}" --ignore-not-found)
done
