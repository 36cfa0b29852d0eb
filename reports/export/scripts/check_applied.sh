if [[ ! -e patched.txt && ! -e karpenter-before.yaml ]]; then
  echo "$0: apply.sh of this folder has not been run, or was taken back: nothing is done" >&2
  exit 1
fi
touch patched.txt
