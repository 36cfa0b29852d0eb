# Keys that no node has any more.
for config in @configs@; do
  [[ -n $(kubectl get nodes -l "@label@=$config" -o name) ]] ||
    kubectl -n @namespace@ patch configmap @name@ --type merge -p "{\"data\":{\"$config\":null}}"
done
