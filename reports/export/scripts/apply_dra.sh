#!/usr/bin/env bash
@title@
#
#   ./apply.sh   node groups that exist and are named like the pools, without the device plugin
#
# Deployments and the like are patched; the name of their container must be the one of the patch in
# pods/. The pod template of a Job cannot be changed: create it from pods/. Then see VERIFY.md.
set -euo pipefail
cd "$(dirname "$0")"
(($# == 0)) || { echo "usage: $0" >&2; exit 2; }
@check@
@types@@patches@touch patched.txt
@release@kubectl apply -f dra.yaml
@objects@@pods@
