# Sourced by the scripts beside it: the repository root, output functions, and the build configurations. Not a command.

set -euo pipefail
unset WIDGETLAB_HOME # may refer to another build; these scripts use this one
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"

# The versions of the packages: `from:` in the manifest, which authors' packages need, allows newer ones.
[ ! scripts/dependencies.json -nt Package.resolved ] || cp scripts/dependencies.json Package.resolved

# The two build configurations. The demo, the tests and CI share the debug build, so that nothing is compiled twice. It
# takes half the time of a release build, and the demo runs as fast. Benchmarks, and everything with --release, use the
# release build. An index store takes a tenth of the CPU time of a debug build, and no tool reads this one: sourcekit-lsp
# makes its index in another folder. Swift Testing finds tests without it: Tests/XCTMain.swift.
debug_configuration=(--disable-index-store)
# A release build makes the types of other packages without searches, too, as Package.swift does with our own:
# Documentation/decisions/0028-types-without-searches.md.
release_configuration=(-c release -Xswiftc -enable-testing
  -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors)
configuration=("${debug_configuration[@]}")

# Switches this script to the release configuration. Scripts that it calls need --release.
use_release() { configuration=("${release_configuration[@]}"); }

# The folder of the executables of the current configuration.
executables() { swift build "${configuration[@]}" --show-bin-path; }

# prints minutes and seconds since the given time (seconds since 1970)
since() {
  local seconds=$(($(date +%s) - $1))
  printf '%d:%02d' $((seconds / 60)) $((seconds % 60))
}

say() { printf '==> %s\n' "$*"; }

# prints an error and advice, one argument per line, and exits with 1
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '       %s\n' "$@" >&2
  exit 1
}

# prints the comment at the top of the calling script as its help
help() {
  sed -n '2,/^[^#]/ { /SPDX-/d; s/^# \{0,1\}//p; }' "$0"
  exit 0
}

# step "title" command...: runs a command under a heading and prints its duration
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

# passes lines through, and prints a line after each 30 s without output
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
      printf '    … still running after %s\n' "$(since "$began")"
    else
      [ -z "$rest$line" ] || printf '%s\n' "$rest$line"
      return 0
    fi
  done
}

# room_on_disk MiB: fails early when the disk is too full for the build
room_on_disk() {
  local free
  free=$(df -Pm "$root" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$1" ] || fail "only $free MiB free on the disk of $root; $1 MiB are needed" \
    "Free some space, or clone to a larger disk."
}
