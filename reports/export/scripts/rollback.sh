#!/usr/bin/env bash
@title@
#
#   ./rollback.sh               patched objects, labels and the release of the chart
#   ./rollback.sh --karpenter   also deletes the NodePools, and with them their nodes
#
@arguments@
@deployments@

@objects@@karpenter@
@release@
