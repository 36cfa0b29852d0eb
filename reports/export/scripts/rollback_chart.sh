# After a first install there is no revision before: then the release is removed.
revisions=$(helm history @name@ -n @namespace@ -o json | grep -o '"revision"' | wc -l)
if ((revisions > 1)); then
  helm rollback @name@ -n @namespace@
else
  helm uninstall @name@ -n @namespace@
fi
