# SPDX-License-Identifier: Apache-2.0
# Sourced after scripts/shared.sh by the scripts that test images: the container engine. Not a command.

# Prefers the engine's own client: another one on the PATH may be too new for the engine.
docker() { if [ -x /usr/bin/docker ]; then /usr/bin/docker "$@"; else command docker "$@"; fi; }

engine_was_there=yes

# get_engine [--with-swift]: a running engine and its base images, from deploy/engine. Ends the script with a message where
# that is not possible; as root nothing is skipped.
get_engine() {
  local status=0
  docker info >/dev/null 2>&1 || engine_was_there=no
  deploy/engine "$@" || status=$?
  if [ $status -eq 3 ] && [ "$(id -u)" != 0 ]; then
    say "SKIPPED: no container engine; the reason is above"
    exit 0
  fi
  [ $status -eq 0 ] || fail "deploy/engine exited with $status"
}

# Stops the engine that get_engine started.
leave_engine() { [ $engine_was_there = yes ] || deploy/engine --stop; }
