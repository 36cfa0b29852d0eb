# fish completion of slicewise: slicewise completion fish | source
complete -c slicewise -f
@words@
