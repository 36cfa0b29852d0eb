{{- define "slicewise.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "slicewise.labels" -}}
app.kubernetes.io/name: slicewise
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{- end -}}

{{- define "slicewise.claim" -}}
{{- .Values.existingClaim | default (include "slicewise.name" .) -}}
{{- end -}}

{{- /* Nobody, without rights. */ -}}
{{- define "slicewise.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
