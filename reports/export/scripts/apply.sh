#!/usr/bin/env bash
@title@
#
#   ./apply.sh               node groups that exist and are named like the pools@makers@
#   ./apply.sh --karpenter   also the NodePools of karpenter.yaml
#
# Deployments and the like are patched; the name of their container must be the one of the patch in
# pods/. The pod template of a Job cannot be changed: create it from pods/. Then see VERIFY.md.
@arguments@
@check@
@types@@patches@touch patched.txt
@release@

@karpenter@
@objects@@pods@
