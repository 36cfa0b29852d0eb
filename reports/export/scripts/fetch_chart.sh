# A chart that cannot be had ends it before anything is changed.
helm repo add @repository@ @url@
helm repo update @repository@
helm show chart @repository@/@chart@ @version@ >/dev/null
