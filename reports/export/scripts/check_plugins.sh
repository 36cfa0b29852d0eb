# Two device plugins on a node offer its GPUs twice.
plugins=$(kubectl get daemonsets --all-namespaces -l 'app.kubernetes.io/instance!=@name@' --ignore-not-found --no-headers -o custom-columns='SPACE:.metadata.namespace,NAME:.metadata.name,IMAGES:.spec.template.spec.containers[*].image')
while read -r space name images; do
  [[ $images == *k8s-device-plugin* ]] || continue
  echo "$0: DaemonSet $name in namespace $space is a device plugin that is none of release @name@:" >&2
  echo "put @values@ into what installs it, or take it away first; where its nodes are others, take this check out" >&2
  exit 1
done <<<"$plugins"
