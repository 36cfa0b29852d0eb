# For rollback.sh: what there was before the first apply.sh.
[[ -e operator-before.txt ]] || echo "$operator $operators $revision" >operator-before.txt
helm upgrade -i "$operator" @chart@ -n "$operators" "${keep[@]}" -f gpu-operator-values.yaml ${kept[@]+"${kept[@]}"}
