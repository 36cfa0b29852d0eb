# bash completion of slicewise: source <(slicewise completion bash)
_slicewise() {
  local current="${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  local route='' word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$route/$word" in
      @routes@) route="$route/$word" ;;
    esac
  done
  case "$route ${COMP_WORDS[COMP_CWORD-1]}" in
@values@
  esac
  case "$route" in
@words@
  esac
}
complete -o filenames -F _slicewise slicewise
