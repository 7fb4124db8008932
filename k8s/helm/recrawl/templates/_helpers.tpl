{{- define "recrawl.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* A value as TOML. Helm reads whole numbers as floating point, which only JSON prints as they were. */}}
{{- define "recrawl.toml" -}}
{{- if kindIs "map" . -}}
{ {{- $comma := "" }}
{{- range $key, $value := . }}{{ $comma }} {{ $key | quote }} = {{ include "recrawl.toml" $value }}{{ $comma = "," }}{{ end }} }
{{- else if kindIs "slice" . -}}
[{{ range $index, $value := . }}{{ if $index }}, {{ end }}{{ include "recrawl.toml" $value }}{{ end }}]
{{- else -}}
{{ toRawJson . }}
{{- end -}}
{{- end }}

{{/* The lines of a table. A value of null takes a setting of values.yaml out. */}}
{{- define "recrawl.table" -}}
{{- range $key, $value := . }}
{{- if not (kindIs "invalid" $value) }}
{{ $key }} = {{ include "recrawl.toml" $value }}
{{- end }}
{{- end }}
{{- end }}

{{/* recrawl.toml. Lists are tables of the same name, such as [[rules]]. */}}
{{- define "recrawl.settings" -}}
{{- range $section, $content := .Values.settings }}
{{- if kindIs "slice" $content }}
{{- range $content }}

[[{{ $section }}]]
{{- include "recrawl.table" . }}
{{- end }}
{{- else if $content }}

[{{ $section }}]
{{- include "recrawl.table" $content }}
{{- end }}
{{- end }}
{{- end }}

{{/* Pods are replaced when their settings change. */}}
{{- define "recrawl.podAnnotations" -}}
checksum/settings: {{ include "recrawl.settings" . | sha256sum }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "recrawl.scheduling" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The volume at /run/secrets/kafka: a Secret of the operator, or the certificate of a user of Strimzi. */}}
{{- define "recrawl.kafka" -}}
{{- $user := index . 1 }}
{{- with index . 0 -}}
- name: kafka
{{- if .Values.strimzi.enabled }}
  projected:
    sources:
      - secret: {name: {{ .Values.strimzi.cluster }}-cluster-ca-cert, items: [{key: ca.crt, path: ca.crt}]}
      - secret: {name: {{ $user }}, items: [{key: user.crt, path: user.crt}, {key: user.key, path: user.key}]}
    defaultMode: 0440
{{- else }}
  secret:
    secretName: {{ .Values.kafka.secretName }}
    optional: true
    defaultMode: 0440
{{- end }}
{{- end }}
{{- end }}

{{- define "recrawl.topicsCommand" -}}
{{ if or .Values.strimzi.enabled (not .Values.topics.create) }}check{{ else }}create{{ end }}
{{- end }}

{{- define "recrawl.brokers" -}}
{{- with .Values.networkPolicies.kafka.to }}
{{- toYaml . }}
{{- else -}}
- podSelector:
    matchLabels:
      strimzi.io/cluster: {{ .Values.strimzi.cluster }}
      strimzi.io/kind: Kafka
{{- end }}
{{- end }}

{{- define "recrawl.ports" -}}
{{- range . }}
- {protocol: TCP, port: {{ . }}}
{{- end }}
{{- end }}

{{/* For how long a topic keeps records, in ms, if settings.log says so; else as the catalogue has it. */}}
{{- define "recrawl.retention" -}}
{{- $log := (index . 0).Values.settings.log | default dict }}
{{- $topic := (index . 1).metadata.name | trimPrefix "recrawl." }}
{{- $settings := dict "fetch-results" "retention_results" "page-changes" "retention_changes" }}
{{- $settings = merge $settings (dict "dead-letters" "retention_dead_letters" "audit" "retention_audit") }}
{{- $name := get $settings $topic }}
{{- with get $log ($name | default "none") }}
{{- if not (regexMatch "^[0-9]+d$" .) }}
{{- fail (printf "settings.log.%s: write whole days, such as \"7d\", for the topic of Strimzi; it is %q" $name .) }}
{{- end }}
{{- mul (trimSuffix "d" . | int64) 86400000 }}
{{- end }}
{{- end }}
