# Sourced by the programs of bin/, which may be reached through symbolic links: sets `home`, the
# folder of the project, finds a JDK, and builds what is not there yet or out of date. They set
# `program`, the name that messages begin with.

JDK=25
home=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s: %s\n' "$program" "$*" >&2; }

# nearest WORD CANDIDATE...: the candidate that is at most two letters away from WORD, if there is one.
nearest() {
  local word=${1:0:30} candidate best='' i j cost above before
  local -i least=3
  local -a row
  shift
  for candidate in "$@"; do
    row=()
    for ((j = 0; j <= ${#candidate}; j++)); do row[j]=$j; done
    for ((i = 1; i <= ${#word}; i++)); do # the edit distance of Levenshtein, row by row
      before=${row[0]}
      row[0]=$i
      for ((j = 1; j <= ${#candidate}; j++)); do
        above=${row[j]}
        cost=1
        if [[ ${word:i-1:1} == "${candidate:j-1:1}" ]]; then cost=0; fi
        row[j]=$((before + cost))
        if ((above + 1 < row[j])); then row[j]=$((above + 1)); fi
        if ((row[j - 1] + 1 < row[j])); then row[j]=$((row[j - 1] + 1)); fi
        before=$above
      done
    done
    if ((row[${#candidate}] < least)); then
      least=${row[${#candidate}]}
      best=$candidate
    fi
  done
  printf '%s' "$best"
}

# Whether it can build and run; in a copy without sources, such as an image, whether it can run.
is_jdk() {
  [[ -x $1/bin/java && -r $1/release ]] && [[ -x $1/bin/javac || ! -f $home/pom.xml ]] &&
    grep -q "^JAVA_VERSION=\"$JDK[.\"]" "$1/release"
}

find_jdk() {
  local candidate on_path
  local -a candidates=()
  if [[ -n ${JAVA_HOME:-} ]]; then candidates+=("$JAVA_HOME"); fi
  if on_path=$(command -v javac); then
    on_path=$(readlink -f -- "$on_path")
    candidates+=("${on_path%/bin/javac}")
  fi
  shopt -s nullglob
  candidates+=(/usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* /usr/local/jdk*
    "${HOME:-/nonexistent}"/.sdkman/candidates/java/* "${HOME:-/nonexistent}"/.jdks/*
    /Library/Java/JavaVirtualMachines/*/Contents/Home /opt/homebrew/opt/openjdk@$JDK/libexec/openjdk.jdk/Contents/Home)
  shopt -u nullglob
  for candidate in "${candidates[@]}"; do
    if is_jdk "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

need_jdk() {
  if ! jdk=$(find_jdk); then
    say "no JDK $JDK found: install one (such as Temurin $JDK) and set JAVA_HOME to it"
    exit 1
  fi
  java=$jdk/bin/java
}

unchanged_since() {
  [[ -z $(find "$home/pom.xml" "$home/$2/pom.xml" "$home/$2/src/main" -newer "$1" -print -quit 2>/dev/null) ]]
}

# built THING MODULE...: whether THING is there and made of the sources as they are: none is newer than
# our own last build, or else than when Maven last compiled its module, or else than THING. A copy
# without sources, such as an image, is never out of date.
built() {
  local thing=$1 stamp=$home/${*: -1}/target/.built module compiled
  shift
  [[ -f $home/pom.xml ]] || return 0
  [[ -e $thing ]] || return 1
  for module in "$@"; do
    [[ -d $home/$module ]] || continue
    if [[ -f $stamp ]] && unchanged_since "$stamp" "$module"; then continue; fi
    compiled=$home/$module/target/maven-status/maven-compiler-plugin/compile/default-compile/inputFiles.lst
    [[ -f $compiled ]] || compiled=$thing
    unchanged_since "$compiled" "$module" || return 1
    if [[ $thing == *.jar && $compiled -nt $thing ]]; then return 1; fi # compiled, and not packaged
  done
}

# cannot_build THING REASON REMEDY
cannot_build() {
  if [[ -e $1 ]]; then
    say "the sources are newer than what runs now, and $2"
    return
  fi
  say "there is nothing to run yet, and $2: $3"
  exit 1
}

# Of what Maven prints, each module that it begins, with the seconds so far, and what is not information.
progress() {
  local line name
  while IFS= read -r line; do
    case $line in
      "[INFO] Building "*/*"]")
        name=${line#"[INFO] Building "}
        say "$SECONDS s: ${name%% [0-9]*} ${line##* }"
        ;;
      "[INFO]"* | "[WARNING]"* | "") ;;
      *) printf '%s\n' "$line" ;;
    esac
  done
}

build() {
  local thing=$1 last=${*: -1} begun module
  shift
  if ! command -v mvn >/dev/null; then
    cannot_build "$thing" "Maven is not on the PATH to build it" "install Maven 3.8.7 or newer"
    return
  fi
  begun=$home/$last/target/.building
  if ! { mkdir -p "$home/$last/target" && : >"$begun"; } 2>/dev/null; then
    cannot_build "$thing" "$home/$last/target cannot be written to build it" "build it as its owner, with 'mvn -DskipTests package'"
    return
  fi
  say "building, which takes 1 to 5 minutes the first time"
  # Without tests and checks of the sources, without colours, and without the escapes with which Maven
  # resets them even where there are none.
  if ! (cd "$home" && MAVEN_OPTS="${MAVEN_OPTS:-} -Djansi.noreset=true" mvn -B -ntp -Dstyle.color=never -Dmaven.test.skip=true -Dchecks=off -pl "$last" -am package 2>&1) | progress 1>&2; then
    say "the build failed, so there is nothing to run; what Maven says is above"
    exit 1
  fi
  for module in "$@"; do # the stamp's time is that of the beginning: later edits are newer
    touch -r "$begun" "$home/$module/target/.built"
  done
  rm -f "$begun"
}

# build_once THING MODULE...: builds the last of the modules, which depends on the others,
# unless that is done; one process at a time.
build_once() {
  if built "$@"; then return; fi
  if ! command -v flock >/dev/null || ! { mkdir -p "$home/.aot" && : >>"$home/.aot/build.lock"; } 2>/dev/null; then
    build "$@"
    return
  fi
  exec 9>"$home/.aot/build.lock"
  flock 9
  if ! built "$@"; then build "$@"; fi
  exec 9>&-
}
