if [[ -s plugins-before.yaml ]]; then kubectl apply -f plugins-before.yaml; fi
rm -f plugins-before.yaml
