# Sourced by bin/throttlekit: the AOT cache, in which a JVM finds loaded classes and what the compiler
# learned about them. The service never waits for it. A start without a cache leaves a trainer in the
# background, which makes the cache for later starts once the service runs. Uses `home`, `jdk`, `java`,
# `jar`, `lib`, and the JVM options in `flags` and `sized`.

aot=$home/.aot
MIN_ANSWERED=50000 # requests: a training on a busy machine that answered fewer learned too little
TRAIN_AFTER=30     # seconds that a service runs before it is trained for: its own warm-up is over
RETRY_MINUTES=60   # a training that failed would most likely fail again at once

# Sets `name`, the part of a cache's name that changes with all that it depends on: the JDK, its options
# and every jar. Nothing of the file system, such as owners and blocks: an image is unpacked on another one.
name_cache() {
  name=$({ cat "$jdk/release"; printf '%s\n' "${flags[@]}" "$jar"; cksum "$jar"; stat -c '%n %s %Y' "$lib"/*.jar 2>/dev/null || ls -l "$lib"; } | cksum | tr -d ' ')
}

# Sets `kind`, memory or shared: where the command line, the environment and the configuration seem to put
# the counters, in the service's order. What the compiler learned of counters in memory is wrong for shared
# ones, and the reverse, so each kind has a cache; a wrong guess only costs speed. Fails where looking would
# take from the service what can be read only once, such as a pipe.
likely_kind() {
  local word option before= config=${THROTTLEKIT_CONFIG:-} store=${THROTTLEKIT_STORE_URI:-}
  for word in "$@"; do
    if [[ -p ${word#--*=} ]]; then return 1; fi
    option=$word
    case $before in --config | --store) option=$before=$word ;; esac
    case $option in --config=*) config=${option#*=} ;; --store=*) store=${option#*=} ;; esac
    before=$word
  done
  if [[ -n $config && ! -f $config ]]; then return 1; fi
  if [[ -z $store && -n ${REDIS_URL:-} && ${BACKEND_TYPE:-} != memcache ]]; then store=redis; fi
  if [[ -z $store && -n $config && -n $(grep -siE '^[^#]*(rediss?(-[a-z]+)?|postgres(ql)?):' "$config" | grep -vi coordinator) ]]; then
    store=redis # the coordinator of regions is no store
  fi
  kind=memory
  case $store in [Rr][Ee][Dd][Ii][Ss]* | [Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss]*) kind=shared ;; esac
}

# Adds the cache to the JVM's options, or starts a trainer that makes one. Called right before the exec of
# the service, whose process id is that of this script.
use_cache() {
  local kind name after=${THROTTLEKIT_TRAIN_AFTER:-$TRAIN_AFTER}
  if [[ ! $after =~ ^([0-9]{1,6}|never)$ ]]; then
    say "THROTTLEKIT_TRAIN_AFTER is a number of seconds, or never, not $after"
    exit 2
  fi
  mkdir -p "$aot" 2>/dev/null || return 0
  likely_kind "$@" || return 0
  name_cache
  if [[ -s $aot/$kind-$name.aot ]]; then
    flags+=("-XX:AOTCache=$aot/$kind-$name.aot" -Xlog:aot=off -Xlog:cds=off)
  elif [[ $after != never && -w $aot ]] && command -v flock >/dev/null && ! failed_lately; then
    # No child of the service, which does not expect any, and without its streams.
    (train_beside "$$" "$@" </dev/null >/dev/null 2>&1 &)
  fi
}

failed_lately() {
  [[ -n $(find "$aot/$kind-$name.failed" -mmin "-$RETRY_MINUTES" 2>/dev/null) ]]
}

# train_beside PID ARGUMENT...: trains for later starts of the service with this process id and these
# arguments, and ends with it. Ports and the files of TLS are not tried.
train_beside() {
  local service=$1 second guess began
  local limits=(timeout -s KILL 300 nice -n 19) # also where this trainer is killed and cannot end it
  shift
  # Where memory is short, the training ends, and not the service.
  { printf 1000 >/proc/self/oom_score_adj; } 2>/dev/null || true
  for ((second = 0; second < 10#$after; second++)); do
    serving || exit 0
    sleep 1
  done
  lock_training -n || exit 0
  if [[ -s $aot/$kind-$name.aot ]] || failed_lately; then exit 0; fi # after another service's training
  begin_work || exit 0
  guess=$kind
  if ! asked_kind "$@"; then
    record "no training: the service would not start as it is called"
    exit 0
  fi
  if [[ -s $aot/$kind-$name.aot ]]; then
    record "no training: there is a cache for $kind counters, but by its configuration the service seems to have $guess ones"
    exit 0
  fi
  if failed_lately; then exit 0; fi
  began=$SECONDS
  if train; then
    record "made $kind-$name.aot in $((SECONDS - began)) s, from $answered requests"
  else
    record "made no cache: $failure; no start within $RETRY_MINUTES minutes tries again"
  fi
  exit 0
}

# train-cache memory|shared: makes the cache now, unless it is there, whatever failed before.
train_cache() {
  local kind=${1:-} name service='' limits=()
  if [[ $# -ne 1 || ! $kind =~ ^(memory|shared)$ ]]; then
    say "usage: throttlekit train-cache memory|shared"
    exit 2
  fi
  if ! mkdir -p "$aot" 2>/dev/null || [[ ! -w $aot ]]; then
    say "no faster start: $aot cannot be written"
    exit 1
  fi
  name_cache
  if command -v flock >/dev/null && ! lock_training -n; then
    say "waiting for the end of another training"
    lock_training
  fi
  if [[ -s $aot/$kind-$name.aot ]]; then return; fi
  trap 'exit 130' INT
  trap 'exit 143' TERM
  trap 'exit 129' HUP
  begin_work || exit 1
  say "preparing a faster start, which takes up to a minute"
  if ! train; then
    say "no faster start: $failure"
    exit 1
  fi
}

# lock_training [-n]: waits until no other training of this build runs; with -n, fails where one does.
lock_training() {
  { exec 9>"$aot/training.lock"; } 2>/dev/null && flock "$@" 9 || return 1
  rm -rf "$aot"/work.* # of a trainer that was killed
}

# The folder is on the file system of the caches, so that a cache appears there whole.
begin_work() {
  running=
  if ! work=$(mktemp -d "$aot/work.XXXXXX" 2>/dev/null); then
    say "no faster start: $aot cannot be written"
    return 1
  fi
  trap end_work EXIT
}

# Ends at once what was started, with its children, and removes what it wrote.
end_work() {
  trap - EXIT
  end_run || true
  rm -rf "$work" || true
}

# record TEXT: replaces what the log says of the last training.
record() {
  printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" 2>/dev/null >"$aot/training.log" || true
}

# Whether the service runs. One that has ended and that its parent has not reaped does not; without a
# service, there is none to end.
serving() {
  local stat
  [[ -n $service ]] || return 0
  kill -0 "$service" 2>/dev/null || return 1
  IFS= read -r stat 2>/dev/null <"/proc/$service/stat" || return 0 # another system
  [[ ${stat##*) } != Z* ]]
}

# run COMMAND...: starts it with standard output in work/out and errors in work/err, in a process group of
# its own, with which its children end. It does not keep the lock, so that the lock ends with the trainer.
run() {
  set -m
  ${limits[@]+"${limits[@]}"} "$@" </dev/null >"$work/out" 2>"$work/err" 9>&- &
  running=$!
  set +m
}

# Ends what runs, and its children; returns its exit code.
end_run() {
  local ended=$running
  running=
  if [[ -n $ended ]]; then
    kill -KILL -- "-$ended" 2>/dev/null || true
    wait "$ended" 2>/dev/null
  fi
}

# has_ended SECONDS [PATTERN]: waits at most so long until what runs has ended, or written a line like
# this. Ends the trainer once the service has ended.
has_ended() {
  local waited
  for ((waited = 0; waited < $1 * 5; waited++)); do
    kill -0 "$running" 2>/dev/null || return 0
    if [[ $# -gt 1 ]] && grep -qs "$2" "$work/out"; then return 0; fi
    if ! serving; then
      record "stopped: the service ended"
      exit 0
    fi
    sleep 0.2 9>&- # nor does this keep the lock
  done
  return 1
}

# Sets `kind` to that of the counters that the service has; fails when it would not start as it is called.
asked_kind() {
  run "$java" "${flags[@]}" "${sized[@]}" -XX:TieredStopAtLevel=1 -Xshare:auto -jar "$jar" "$@" --dry-run
  has_ended 120 || true
  end_run || return 1
  kind=$(<"$work/out")
  [[ $kind == memory || $kind == shared ]]
}

# Trains by a service of its own that answers its own requests, and stores the cache. Sets `answered`, and
# `failure` when there is no cache; that leaves a mark, too.
train() {
  local code=0 store=()
  cat >"$work/policies.yaml" <<'YAML'
domain: training
descriptors:
  - {key: user, rate_limit: {unit: minute, requests_per_unit: 10}}
YAML
  printf '%s\n' 'warm_up: {requests: 200000}' 'grpc: {host: 127.0.0.1}' 'http: {host: 127.0.0.1}' \
    'telemetry: {log_level: info}' >"$work/service.yaml"
  if [[ $kind == shared ]]; then store=(THROTTLEKIT_STORE_URI=redis://127.0.0.1:1); fi # no Redis listens there
  run env -i PATH="$PATH" ${store[@]+"${store[@]}"} "$java" "${flags[@]}" "${sized[@]}" -XX:AOTCacheOutput="$work/cache" -Xlog:disable -Xlog:all=off \
    -jar "$jar" serve --policies "$work/policies.yaml" --config "$work/service.yaml" \
    --grpc-port 0 --http-port 0 --debug-port 0
  has_ended 120 '^ready ' || true
  kill -TERM "$running" 2>/dev/null || true # at its end the JVM writes the cache
  has_ended 120 || true
  end_run || code=$?
  answered=$(sed -n 's/.*warmed up with \([0-9][0-9]*\) requests.*/\1/p' "$work/err" | tail -n 1)
  answered=${answered:-0}
  if [[ $code -eq 137 || ! -s $work/cache ]]; then # a JVM that was killed may have written a part
    failure="the cache could not be made"
  elif [[ $answered -lt $MIN_ANSWERED ]]; then
    failure="the training answered $answered requests, not $MIN_ANSWERED"
  elif ! store_cache; then
    failure="the cache could not be stored"
  else
    return 0
  fi
  { : >"$aot/$kind-$name.failed"; } 2>/dev/null || true
  return 1
}

# Replaces the caches of earlier builds, and those of earlier versions of this program.
store_cache() {
  rm -f "$aot/$kind"-*.aot "$aot/$kind"-*.failed "$aot"/[0-9]*.aot "$aot"/[0-9]*.failed &&
    mv -f "$work/cache" "$aot/$kind-$name.aot"
}
