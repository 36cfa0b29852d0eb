# The values are of an operator for these pools alone: that of an earlier apply.sh of this folder, or none.
if [[ -n $policy && $(cat operator-before.txt 2>/dev/null) != *' 0' ]]; then
  echo "$0: a GPU Operator is here ($policy), and these values would change its device plugin on all nodes:" >&2
  echo '@help@' >&2
  exit 1
fi
