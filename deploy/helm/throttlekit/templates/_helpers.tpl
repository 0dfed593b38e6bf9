{{/* The name of the chart in labels. */}}
{{- define "throttlekit.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects. 50 characters leave room for suffixes. */}}
{{- define "throttlekit.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "throttlekit.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "throttlekit.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "throttlekit.selectorLabels" -}}
app.kubernetes.io/name: {{ include "throttlekit.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end }}

{{/* Labels of all objects but the trial Redis. */}}
{{- define "throttlekit.labels" -}}
{{ include "throttlekit.selectorLabels" . }}
{{ include "throttlekit.sharedLabels" . }}
{{- end }}

{{- define "throttlekit.sharedLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of pods: without the version of the chart, whose change is no reason to replace them. */}}
{{- define "throttlekit.podLabels" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "throttlekit.redisLabels" -}}
app.kubernetes.io/name: {{ include "throttlekit.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: trial-redis
{{- end }}

{{- define "throttlekit.testLabels" -}}
app.kubernetes.io/name: {{ include "throttlekit.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: test
{{- end }}

{{- define "throttlekit.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "throttlekit.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "throttlekit.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{/* The URI of the store; empty if a Secret has it, or counters are in memory. */}}
{{- define "throttlekit.storeUri" -}}
{{- if .Values.redis.enabled -}}
redis://{{ include "throttlekit.fullname" . }}-redis:6379
{{- else -}}
{{ .Values.store.uri }}
{{- end -}}
{{- end }}

{{/* "yes" if pods share their counters. */}}
{{- define "throttlekit.shared" -}}
{{- if or .Values.store.uriSecret.name (not (has (include "throttlekit.storeUri" .) (list "" "memory"))) -}}yes{{- end -}}
{{- end }}

{{- define "throttlekit.gracePeriod" -}}
{{- with .Values.shutdown }}
{{- if .gracePeriodSeconds }}{{ .gracePeriodSeconds }}{{ else }}{{ add .drainDelaySeconds .drainTimeoutSeconds 15 }}{{ end }}
{{- end }}
{{- end }}

{{- define "throttlekit.regionLabel" -}}
{{- coalesce .Values.regionLabel .Values.federation.region .Release.Namespace }}
{{- end }}

{{/* TLS to a store, of the dictionary {section, tls}. */}}
{{- define "throttlekit.peerTls" -}}
{{- if not .tls.verifyHost }}
verify_host: false
{{- end }}
{{- if .tls.secretName }}
ca: /etc/throttlekit/tls/{{ .section }}/ca.crt
{{- if .tls.clientCertificate }}
certificate: /etc/throttlekit/tls/{{ .section }}/tls.crt
key: /etc/throttlekit/tls/{{ .section }}/tls.key
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of the second Redis, below store.per_second. */}}
{{- define "throttlekit.perSecond" -}}
{{- with .Values.store.perSecond }}
{{- with .uri }}
uri: {{ . | quote }}
{{- end }}
{{- with .user }}
user: {{ . | quote }}
{{- end }}
{{- with .sentinelUser }}
sentinel_user: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The settings that values of the chart other than `config` make. */}}
{{- define "throttlekit.ownConfig" -}}
grpc:
  port: {{ .Values.grpc.port }}
  drain_delay: {{ .Values.shutdown.drainDelaySeconds }}s
  drain_timeout: {{ .Values.shutdown.drainTimeoutSeconds }}s
  {{- if .Values.sensors.enabled }}
  keep_alive_time: {{ dig "grpc" "keep_alive_time" "5s" .Values.config }}
  keep_alive_timeout: {{ dig "grpc" "keep_alive_timeout" "5s" .Values.config }}
  {{- end }}
  {{- with .Values.grpc.tls }}
  {{- if .secretName }}
  tls:
    certificate: /etc/throttlekit/tls/grpc/tls.crt
    key: /etc/throttlekit/tls/grpc/tls.key
    {{- if .requireClientCertificate }}
    client_ca: /etc/throttlekit/tls/grpc/ca.crt
    {{- with .clientSan }}
    client_san: {{ . | quote }}
    {{- end }}
    {{- end }}
  {{- end }}
  {{- end }}
http:
  port: {{ .Values.http.port }}
metrics:
  address: ":{{ .Values.metrics.port }}"
{{- if .Values.sensors.enabled }}
sensors:
  listen: ":{{ .Values.sensors.port }}"
  tls:
    certificate: /etc/throttlekit/tls/sensors/tls.crt
    key: /etc/throttlekit/tls/sensors/tls.key
    client_ca: /etc/throttlekit/tls/sensors/ca.crt
  {{- with .Values.sensors.identities }}
  identities: {{ toYaml . | nindent 4 }}
  {{- end }}
  bind_node_id: {{ .Values.sensors.bindNodeId }}
{{- end }}
{{- $uri := include "throttlekit.storeUri" . }}
{{- $storeTls := include "throttlekit.peerTls" (dict "section" "store" "tls" .Values.store.tls) | trim }}
{{- $perSecond := include "throttlekit.perSecond" . | trim }}
{{- if or $uri .Values.store.user .Values.store.sentinelUser $storeTls $perSecond }}
store:
  {{- with $uri }}
  uri: {{ . | quote }}
  {{- end }}
  {{- with .Values.store.user }}
  user: {{ . | quote }}
  {{- end }}
  {{- with .Values.store.sentinelUser }}
  sentinel_user: {{ . | quote }}
  {{- end }}
  {{- with $storeTls }}
  tls: {{ . | nindent 4 }}
  {{- end }}
  {{- with $perSecond }}
  per_second: {{ . | nindent 4 }}
  {{- end }}
{{- end }}
{{- with .Values.federation }}
{{- if .region }}
federation:
  region: {{ .region | quote }}
  {{- with .coordinator }}
  coordinator: {{ . | quote }}
  {{- end }}
  {{- with .user }}
  user: {{ . | quote }}
  {{- end }}
  {{- with include "throttlekit.peerTls" (dict "section" "federation" "tls" .tls) | trim }}
  tls: {{ . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The defaults that the service has in place of envoyproxy/ratelimit: attribute peer_default of its settings. */}}
{{- define "throttlekit.peerDefaults" -}}
{{- if eq .Values.compatibility "envoyproxy" }}
compatibility: {charge_rejected: true}
grpc: {max_connection_age: 24h, max_connection_age_grace: 1h}
http: {json: true}
policies: {merge_domains: false, require_at_start: false}
response: {retry_after: false}
telemetry: {log_level: warn, service_name: RateLimit}
{{- end }}
{{- end }}

{{/* The whole --config file. */}}
{{- define "throttlekit.config" -}}
{{- $peer := include "throttlekit.peerDefaults" . | fromYaml }}
{{- $own := include "throttlekit.ownConfig" . | fromYaml }}
{{- mergeOverwrite $peer (deepCopy .Values.config) $own | toYaml }}
{{- end }}

{{/* Name and key of a Secret as the source of an environment variable, of the dictionary {name, secret}. */}}
{{- define "throttlekit.fromSecret" -}}
{{- if .secret.name }}
- name: {{ .name }}
  valueFrom: {secretKeyRef: {name: {{ .secret.name }}, key: {{ .secret.key }}}}
{{- end }}
{{- end }}

{{- define "throttlekit.env" -}}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_URI" "secret" .Values.store.uriSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_PASSWORD" "secret" .Values.store.passwordSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_SENTINEL_PASSWORD" "secret" .Values.store.sentinelPasswordSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_PER_SECOND_URI" "secret" .Values.store.perSecond.uriSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_PER_SECOND_PASSWORD" "secret" .Values.store.perSecond.passwordSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_STORE_PER_SECOND_SENTINEL_PASSWORD" "secret" .Values.store.perSecond.sentinelPasswordSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_FEDERATION_COORDINATOR" "secret" .Values.federation.coordinatorSecret) }}
{{- include "throttlekit.fromSecret" (dict "name" "THROTTLEKIT_FEDERATION_PASSWORD" "secret" .Values.federation.passwordSecret) }}
{{- with .Values.javaOptions }}
- name: THROTTLEKIT_JAVA_OPTIONS
  value: {{ . | quote }}
{{- end }}
{{- with .Values.xds }}
{{- if .enabled }}
- name: CONFIG_TYPE
  value: GRPC_XDS_SOTW
- name: CONFIG_GRPC_XDS_SERVER_URL
  value: {{ .server | quote }}
- name: CONFIG_GRPC_XDS_NODE_ID
  value: {{ .nodeId | quote }}
- name: FORCE_START_WITHOUT_INITIAL_CONFIG # ready without limits while the control plane has sent none
  value: "true"
{{- if .tlsSecretName }}
- name: CONFIG_GRPC_XDS_SERVER_USE_TLS
  value: "true"
- name: CONFIG_GRPC_XDS_CLIENT_TLS_CERT
  value: /etc/throttlekit/tls/xds/tls.crt
- name: CONFIG_GRPC_XDS_CLIENT_TLS_KEY
  value: /etc/throttlekit/tls/xds/tls.key
- name: CONFIG_GRPC_XDS_SERVER_TLS_CACERT
  value: /etc/throttlekit/tls/xds/ca.crt
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Secrets with TLS files: lines "section name" of those that are used. */}}
{{- define "throttlekit.tlsSecrets" -}}
{{- with .Values.grpc.tls.secretName }}
- {section: grpc, name: {{ . }}}
{{- end }}
{{- if .Values.sensors.enabled }}
- {section: sensors, name: {{ .Values.sensors.tlsSecretName }}}
{{- end }}
{{- with .Values.store.tls.secretName }}
- {section: store, name: {{ . }}}
{{- end }}
{{- with .Values.federation.tls.secretName }}
- {section: federation, name: {{ . }}}
{{- end }}
{{- if and .Values.xds.enabled .Values.xds.tlsSecretName }}
- {section: xds, name: {{ .Values.xds.tlsSecretName }}}
{{- end }}
{{- end }}

{{/* Stops with what is wrong, where, and what would be right. */}}
{{- define "throttlekit.check" -}}
{{- with .Values }}
{{- if and .redis.enabled (or .store.uri .store.uriSecret.name) }}
{{- fail "redis.enabled starts a trial Redis, but store.uri or store.uriSecret names another store: set one of both" }}
{{- end }}
{{- if and .store.uri .store.uriSecret.name }}
{{- fail "store.uri and store.uriSecret both name the store: set one of both" }}
{{- end }}
{{- if and .federation.coordinator .federation.coordinatorSecret.name }}
{{- fail "federation.coordinator and federation.coordinatorSecret both name the coordinator: set one of both" }}
{{- end }}
{{- if and (not (include "throttlekit.shared" $)) (or .store.user .store.passwordSecret.name .store.tls.secretName) }}
{{- fail "store has a login or TLS files, but no URI, so each pod would count alone: set store.uri or store.uriSecret" }}
{{- end }}
{{- with .store.perSecond }}
{{- if and .uri .uriSecret.name }}
{{- fail "store.perSecond.uri and store.perSecond.uriSecret both name the second Redis: set one of both" }}
{{- end }}
{{- $second := or .uri .uriSecret.name }}
{{- if and (not $second) (or .user .passwordSecret.name .sentinelUser .sentinelPasswordSecret.name) }}
{{- fail "store.perSecond has a login, but no URI: set store.perSecond.uri or store.perSecond.uriSecret" }}
{{- end }}
{{- if and $second (or (not (include "throttlekit.shared" $)) (hasPrefix "postgresql:" $.Values.store.uri)) }}
{{- fail "store.perSecond needs a Redis for the other limits too: set store.uri or store.uriSecret" }}
{{- end }}
{{- end }}
{{- $coordinator := or .federation.coordinator .federation.coordinatorSecret.name }}
{{- if and $coordinator (not .federation.region) }}
{{- fail "a coordinator needs federation.region, the name of this region, for example eu" }}
{{- end }}
{{- if and .federation.region (not $coordinator) }}
{{- fail "federation.region needs a coordinator: set federation.coordinator or federation.coordinatorSecret" }}
{{- end }}
{{- if and .federation.region (not (include "throttlekit.shared" $)) }}
{{- fail "the pods of a region need a store that they share: set store.uri or store.uriSecret" }}
{{- end }}
{{- if and .sensors.enabled (not .sensors.tlsSecretName) }}
{{- fail "sensors.enabled needs sensors.tlsSecretName: clients of this port change limits, so they need certificates" }}
{{- end }}
{{- if and .serviceMonitor.enabled .podMonitor.enabled }}
{{- fail "serviceMonitor and podMonitor are both enabled, so each series would exist twice: enable one of both" }}
{{- end }}
{{- if and .autoscaling.enabled (not .autoscaling.targetCPUUtilizationPercentage) (not .autoscaling.inFlight.enabled) }}
{{- fail "autoscaling needs a metric: set autoscaling.targetCPUUtilizationPercentage or autoscaling.inFlight.enabled" }}
{{- end }}
{{- with .autoscaling }}
{{- if and .enabled (gt (int .minReplicas) (int .maxReplicas)) }}
{{- fail (printf "autoscaling.minReplicas is %d, which is more than autoscaling.maxReplicas, %d" (int .minReplicas) (int .maxReplicas)) }}
{{- end }}
{{- end }}
{{- if and .autoscaling.enabled .autoscaling.targetCPUUtilizationPercentage (not (dig "requests" "cpu" "" .resources)) }}
{{- fail "autoscaling.targetCPUUtilizationPercentage is a percentage of resources.requests.cpu: set it, or the target to 0" }}
{{- end }}
{{- $update := .strategy.rollingUpdate }}
{{- if and (eq .strategy.type "RollingUpdate") (has (toString $update.maxUnavailable) (list "0" "0%")) (has (toString $update.maxSurge) (list "0" "0%")) }}
{{- fail "strategy.rollingUpdate.maxUnavailable and maxSurge are both 0, so no pod could be replaced: set one of both" }}
{{- end }}
{{- with .grpc.tls }}
{{- if and .requireClientCertificate (not .secretName) }}
{{- fail "grpc.tls.requireClientCertificate needs grpc.tls.secretName: without it the port has no TLS, and every client may call it" }}
{{- end }}
{{- if and .clientSan (not .requireClientCertificate) }}
{{- fail "grpc.tls.clientSan needs grpc.tls.requireClientCertificate: without it no certificate is checked" }}
{{- end }}
{{- end }}
{{- range $section := list "store" "federation" }}
{{- $tls := (index $.Values $section).tls }}
{{- if and $tls.clientCertificate (not $tls.secretName) }}
{{- fail (printf "%s.tls.clientCertificate needs %s.tls.secretName, the Secret with tls.crt and tls.key" $section $section) }}
{{- end }}
{{- end }}
{{- if and .service.headless (ne .service.type "ClusterIP") }}
{{- fail (printf "service.type is %s, but a headless Service has no type: set service.headless to false" .service.type) }}
{{- end }}
{{- if .prometheusRule.enabled }}
{{- $names := list }}
{{- range (fromYaml ($.Files.Get "files/alerts.yaml")).groups }}
{{- range .rules }}{{- $names = append $names .alert }}{{- end }}
{{- end }}
{{- range .prometheusRule.disabled }}
{{- if not (has . $names) }}
{{- fail (printf "prometheusRule.disabled: there is no alert %s; the alerts are %s" . (join ", " $names)) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .xds.enabled (or .policies.files .policies.configMaps) }}
{{- fail "xds.enabled takes limits from the control plane, but policies names files: set one of both" }}
{{- end }}
{{- $least := add .shutdown.drainDelaySeconds .shutdown.drainTimeoutSeconds }}
{{- if and .shutdown.gracePeriodSeconds (le (int .shutdown.gracePeriodSeconds) (int $least)) }}
{{- fail (printf "shutdown.gracePeriodSeconds is %d, but draining takes up to %d s, and returning leased units up to 10 s more: set at least %d, or 0" (int .shutdown.gracePeriodSeconds) (int $least) (int (add $least 10))) }}
{{- end }}
{{- $ports := list (int .grpc.port) (int .http.port) (int .metrics.port) (int (dig "debug" "port" 6070 .config)) }}
{{- if .sensors.enabled }}{{- $ports = append $ports (int .sensors.port) }}{{- end }}
{{- if ne (len ($ports | uniq)) (len $ports) }}
{{- fail "grpc.port, http.port, metrics.port, sensors.port and config.debug.port (6070) must differ" }}
{{- end }}
{{- $elsewhere := dict
  "policies.paths" "policies" "grpc.port" "grpc.port" "grpc.host" "grpc.port" "grpc.unix_socket" "grpc.port" "grpc.tls" "grpc.tls"
  "grpc.drain_delay" "shutdown.drainDelaySeconds" "grpc.drain_timeout" "shutdown.drainTimeoutSeconds"
  "http.port" "http.port" "http.host" "http.port" "metrics.address" "metrics.port" "metrics.path" "metrics.port"
  "sensors.listen" "sensors.port" "sensors.tls" "sensors.tlsSecretName" "sensors.identities" "sensors.identities"
  "sensors.bind_node_id" "sensors.bindNodeId"
  "store.uri" "store.uri" "store.user" "store.user" "store.password" "store.passwordSecret"
  "store.sentinel_user" "store.sentinelUser" "store.sentinel_password" "store.sentinelPasswordSecret" "store.tls" "store.tls"
  "store.per_second.uri" "store.perSecond.uri" "store.per_second.user" "store.perSecond.user"
  "store.per_second.password" "store.perSecond.passwordSecret" "store.per_second.sentinel_user" "store.perSecond.sentinelUser"
  "store.per_second.sentinel_password" "store.perSecond.sentinelPasswordSecret"
  "federation.region" "federation.region" "federation.coordinator" "federation.coordinator" "federation.user" "federation.user"
  "federation.password" "federation.passwordSecret" "federation.tls" "federation.tls" }}
{{- range $setting, $value := $elsewhere }}
{{- $path := splitList "." $setting }}
{{- $section := $.Values.config }}
{{- range initial $path }}
{{- $section = ternary (get $section .) dict (kindIs "map" (get $section .)) }}
{{- end }}
{{- if hasKey $section (last $path) }}
{{- fail (printf "config.%s is made from other values of the chart: set %s" $setting $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
