if [[ $karpenter == yes ]]; then
  sed "s/\${CLUSTER_NAME}/$CLUSTER_NAME/g" karpenter.yaml | kubectl @verb@ -f -
fi
