if [[ $karpenter == yes ]]; then
  : "${CLUSTER_NAME:?set it to the name of the cluster}"
  sed "s/\${CLUSTER_NAME}/$CLUSTER_NAME/g" karpenter.yaml | kubectl @verb@ -f -
fi
