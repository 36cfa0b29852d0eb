if [[ ! -e release-before.txt ]]; then
  echo "skipped: apply.sh has not changed the release from here, or was taken back" >&2
else
  if [[ $(<release-before.txt) =~ \"revision\":\"?([0-9]+) ]]; then
    helm rollback @name@ "${BASH_REMATCH[1]}" -n @namespace@
  else
    # None where apply.sh failed at it.
    listed=$(helm list -n @namespace@ --filter '^@name@$' -o json)
    [[ $listed != *'"revision"'* ]] || helm uninstall @name@ -n @namespace@
  fi
  rm release-before.txt
fi
