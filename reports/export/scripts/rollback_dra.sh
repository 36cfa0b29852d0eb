#!/usr/bin/env bash
@title@
#
#   ./rollback.sh   patched objects, claims, labels and the releases of the charts
#
set -euo pipefail
cd "$(dirname "$0")"
(($# == 0)) || { echo "usage: $0" >&2; exit 2; }
@check@@deployments@
@objects@kubectl delete --ignore-not-found -f dra.yaml
@labels@# After a first install there is no revision before: then the release is removed.
releases=(@releases@)
for release in "${releases[@]}"; do
  revisions=$(helm history "$release" -n "$release" -o json | grep -o '"revision"' | wc -l)
  if ((revisions > 1)); then
    helm rollback "$release" -n "$release"
  else
    helm uninstall "$release" -n "$release"
  fi
done
@operator@
