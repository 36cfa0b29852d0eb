# Another device plugin would hand out the same GPUs once more.
plugins=$(kubectl get daemonsets --all-namespaces --ignore-not-found --no-headers -o custom-columns='SPACE:.metadata.namespace,NAME:.metadata.name,IMAGES:.spec.template.spec.containers[*].image')
while read -r space daemon images; do
  [[ $images == *k8s-device-plugin* ]] || continue
  case $space/$daemon in
    */*gpu-feature-discovery | */*mps-control-daemon | @known@) continue ;;
  esac
  echo "$0: DaemonSet $daemon in namespace $space runs a device plugin as well, and a GPU with two is given out twice:" >&2
  echo "take it away first (kubectl -n $space delete daemonset $daemon; of a release of Helm's: helm uninstall), or name" >&2
  echo "it in gpuSoftware of the scenario, as slicewise import k8s does" >&2
  exit 1
done <<<"$plugins"
