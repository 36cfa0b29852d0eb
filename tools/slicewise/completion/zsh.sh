#compdef slicewise
# zsh completion of slicewise: source <(slicewise completion zsh)
_slicewise() {
  local route='' word
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$route/$word" in
      @routes@) route="$route/$word" ;;
    esac
  done
  case "$route ${words[CURRENT-1]}" in
@values@
  esac
  case "$route" in
@words@
  esac
}
if [ "$funcstack[1]" = "_slicewise" ]; then _slicewise; else compdef _slicewise slicewise; fi
