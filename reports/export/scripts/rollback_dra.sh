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
@labels@@release@@operator@rm -f patched.txt
