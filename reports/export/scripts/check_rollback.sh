if [[ ! -s operator-before.txt ]]; then
  echo "$0: operator-before.txt is not here: apply.sh of this folder has not changed the GPU Operator. If that of another" >&2
  echo "copy has, run rollback.sh there; or helm history and helm rollback (Helm keeps 10 revisions), then the rest by hand" >&2
  exit 1
fi
