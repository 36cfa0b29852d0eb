set -euo pipefail
cd "$(dirname "$0")"
karpenter=no
case ${1:-} in
  '') ;;
  --karpenter) karpenter=yes ;;
  *) echo "usage: $0 [--karpenter]" >&2; exit 2 ;;
esac
