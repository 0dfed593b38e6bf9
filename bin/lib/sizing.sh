# Sourced by bin/throttlekit: what this process may use by its cgroup (version 2 or 1), and the JVM options for it.
# The limits of the groups above count, too.

DEFAULT_MIB=1024 # the size where nothing limits the memory
G1_MIB=1024      # G1 from so much memory and so many thousandths of a processor on
G1_MILLIS=2000

# cgroup_folders CONTROLLER SYS PROC: prints the folders of this process's group and of those above it.
cgroup_folders() {
  local id controllers path root
  while IFS=: read -r id controllers path; do
    if [[ $id == 0 && -z $controllers && -f $2/cgroup.controllers ]]; then
      root=$2
    elif [[ ,$controllers, == *,"$1",* && -d $2/$1 ]]; then
      root=$2/$1
    else
      continue
    fi
    if [[ $path == */..* ]]; then path=/; fi # of a group outside of this container
    path=${path%/}
    while :; do # a folder of the host's names may be missing in a container
      if [[ -d $root$path ]]; then printf '%s\n' "$root$path"; fi
      if [[ -z $path ]]; then break; fi
      path=${path%/*}
    done
  done
} 2>/dev/null <"$3/self/cgroup"

# Sets REPLY to the first line of a file; fails without one.
first_line() { { IFS= read -r REPLY <"$1"; } 2>/dev/null; }

# read_memory SYS PROC: sets `memory_mib`, `memory_limited` and `memory_why`.
read_memory() {
  local folder file bytes=$((1 << 62)) name amount
  memory_why="no limit"
  while read -r name amount _; do
    if [[ $name == MemTotal: ]]; then bytes=$((amount << 10)); fi
  done 2>/dev/null <"$2/meminfo" || true
  if ((bytes >> 20 < DEFAULT_MIB)); then memory_why="the machine's"; fi
  while IFS= read -r folder; do
    for file in memory.max memory.limit_in_bytes; do
      if first_line "$folder/$file" && [[ $REPLY =~ ^[0-9]{1,19}$ ]] && ((10#$REPLY < bytes)); then
        bytes=$((10#$REPLY))
        memory_why=$file
      fi
    done
  done < <(cgroup_folders memory "$1" "$2" || true)
  memory_mib=$((bytes >> 20))
  memory_limited=true
  if [[ $memory_why == "no limit" ]]; then
    memory_mib=$DEFAULT_MIB
    memory_limited=false
  fi
}

# read_processors SYS PROC ONLINE: sets `processor_millis`, thousandths of a processor, and `processor_why`.
read_processors() {
  local folder quota period millis why=
  processor_millis=$(($3 * 1000))
  processor_why="no limit"
  while IFS= read -r folder; do
    quota=
    if first_line "$folder/cpu.max"; then
      read -r quota period <<<"$REPLY"
      why=cpu.max
    elif first_line "$folder/cpu.cfs_quota_us"; then
      quota=$REPLY
      why=cpu.cfs_quota_us
      first_line "$folder/cpu.cfs_period_us" || continue
      period=$REPLY
    fi
    if [[ $quota =~ ^[0-9]{1,15}$ && $period =~ ^[1-9][0-9]{0,14}$ ]]; then
      millis=$((10#$quota * 1000 / period))
      if ((millis < processor_millis)); then
        processor_millis=$millis
        processor_why=$why
      fi
    fi
  done < <(cgroup_folders cpu "$1" "$2" || true)
}

# Where a JVM option of the user selects a collector, there is none of ours: two are an error.
selects_collector() {
  local option
  for option in "$@"; do
    case $option in -XX:+Use*GC) return 0 ;; esac
  done
  return 1
}

# size_jvm MIB MILLIS LIMITED OPTION...: sets `sized`, the JVM options for so much memory and so many thousandths of a
# processor beside the user's options, and `heap_mib`, `direct_mib`, `collector` and `collector_why`.
#
# Heap: 96 MiB of 256, 640 of 1024, in between in proportion, and above that three quarters, or all but 384 MiB if
# that is less. The rest is for classes, compiled code, threads, and Netty's buffers: a sixteenth, which is 32 to 256
# MiB. Logs that came as fast as they were read once took 32 MiB of them (`bin/bench sensors`).
#
# Collector: Serial takes the least memory and processor time, and with a young generation of 16 MiB its common pauses
# are the shortest. Where a million counters fill the heap, it stops the process for half a second, and G1 does not.
size_jvm() {
  local mib=$1 millis=$2 limited=$3
  shift 3
  if ((mib < 256)); then
    heap_mib=$((mib < 128 ? 48 : mib * 3 / 8))
  elif ((mib <= 1024)); then
    heap_mib=$((96 + (mib - 256) * 17 / 24))
  elif ((mib - 384 < mib * 3 / 4)); then
    heap_mib=$((mib - 384))
  else
    heap_mib=$((mib * 3 / 4))
  fi
  if ((heap_mib > 30720)); then heap_mib=30720; fi # above that, references take twice the memory
  direct_mib=$((mib / 16 < 32 ? 32 : mib / 16 > 256 ? 256 : mib / 16))
  sized=(-Xms26m "-Xmx${heap_mib}m" "-Dio.netty.maxDirectMemory=$((direct_mib << 20))")
  if selects_collector "$@"; then
    collector="that of THROTTLEKIT_JAVA_OPTIONS"
    collector_why="the user's choice"
  elif [[ $limited != true ]]; then
    collector=Serial
    collector_why="nothing limits the memory"
  elif ((mib < G1_MIB || millis < G1_MILLIS)); then
    collector=Serial
    collector_why="less than 1 GiB, or than 2 processors"
  else
    collector=G1
    collector_why="1 GiB and 2 processors, or more"
    sized+=(-XX:+UseG1GC)
  fi
  if [[ $collector == Serial ]]; then sized+=(-XX:+UseSerialGC -Xmn16m); fi
}

# Prints what was chosen and why, in lines that | ends.
describe_sizing() {
  printf '%s|' "memory: $memory_mib MiB ($memory_why)" \
    "processors: $((processor_millis / 1000)).$((processor_millis % 1000 / 100)) ($processor_why)" \
    "heap: at most $heap_mib MiB of that, and $direct_mib MiB for Netty's buffers" \
    "collector: $collector ($collector_why)"
}
