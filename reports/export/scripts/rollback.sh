#!/usr/bin/env bash
@title@
#
#   ./rollback.sh               patched objects, labels and the release of the chart
#   ./rollback.sh --karpenter   also the NodePools: those there were as they were, the others and their nodes go
#
@arguments@
@deployments@

@objects@@karpenter@
@release@
rm -f patched.txt
