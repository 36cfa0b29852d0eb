# For rollback.sh: what there was before the first apply.sh.
if [[ ! -e release-before.txt ]]; then
  helm list -n @namespace@ --filter '^@name@$' -o json >release.new
  mv release.new release-before.txt
fi
