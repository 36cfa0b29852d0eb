read -r operator operators revision <operator-before.txt
if ((revision > 0)); then
  helm rollback "$operator" "$revision" -n "$operators"
else
  helm uninstall "$operator" -n "$operators"
fi
rm operator-before.txt
