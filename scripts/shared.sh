# Sourced by the scripts beside it: where the tree is, how they print, and the build configurations. Not a command.

set -euo pipefail
unset WIDGETLAB_HOME # names another build, and these scripts use this one
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"

# The two build configurations. The demo, the tests and CI share the debug build, so that nothing is compiled twice. It takes
# half the time of a release build, and the demo runs as fast. Benchmarks, and everything with --release, use the other one.
# The debug build has no extra flags: a plain `swift build` uses the same objects.
debug_configuration=()
release_configuration=(-c release -Xswiftc -enable-testing)
configuration=("${debug_configuration[@]}")

# After this call, this script uses the release configuration. Scripts that it calls need --release.
use_release() { configuration=("${release_configuration[@]}"); }

# The folder of the executables of the chosen configuration.
executables() { swift build "${configuration[@]}" --show-bin-path; }

# minutes and seconds since the time given (seconds since 1970)
since() {
  local seconds=$(($(date +%s) - $1))
  printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
}

say() { printf '==> %s\n' "$*"; }

# says what is wrong and what to do, one argument a line, and ends the script
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# prints the comment at the top of the calling script, which is its help
help() {
  sed -n '2,/^[^#]/ s/^# \{0,1\}//p' "$0"
  exit 0
}

# step "title" command...: runs it under a heading and says how long it took
step() {
  local title=$1 began status=0
  shift
  began=$(date +%s)
  say "$title"
  "$@" || status=$?
  if [ $status -ne 0 ]; then
    printf '==> %s: FAILED with %d after %s\n' "$title" $status "$(since "$began")" >&2
    return $status
  fi
  say "$title: done in $(since "$began")"
}

# passes the lines through, and when there were none for half a minute says that it is still at it
with_signs_of_life() {
  local line='' rest='' status began
  began=$(date +%s)
  while :; do
    status=0
    IFS= read -r -t 30 line || status=$?
    if [ $status -eq 0 ]; then
      printf '%s\n' "$rest$line"
      rest=''
    elif [ $status -gt 128 ]; then
      rest+=$line
      printf '    … still at it after %s\n' "$(since "$began")"
    else
      [ -z "$rest$line" ] || printf '%s\n' "$rest$line"
      return 0
    fi
  done
}

# room_on_disk MiB: fails early and clearly where the build would fail late and strangely
room_on_disk() {
  local free
  free=$(df -Pm "$root" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$1" ] || fail "only $free MiB are free on the disk of $root; this needs $1 MiB" \
    "Free some space there, or clone to a bigger disk."
}
