if [[ -s operator-before.txt ]]; then
  read -r operator operators revision <operator-before.txt
  if ((revision > 0)); then
    helm rollback "$operator" "$revision" -n "$operators"
  else
    helm uninstall "$operator" -n "$operators"
  fi
  rm operator-before.txt
else
  echo 'skipped: apply.sh has not changed the GPU Operator' >&2
fi
