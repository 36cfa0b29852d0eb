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
for daemon in @daemons@; do
  kubectl -n "${daemon%/*}" delete daemonset "${daemon#*/}" --ignore-not-found
done
