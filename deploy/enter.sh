#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command as the owner of the current folder, so that what it writes there belongs to the person who mounted it.
set -eu
owner=$(stat -c %u:%g .)
if [ "$(id -u)" != 0 ] || [ "$owner" = 0:0 ]; then exec "$@"; fi
# A named volume belongs to root when it is first mounted.
chown "$owner" "$HOME"
exec setpriv --reuid="${owner%:*}" --regid="${owner#*:}" --clear-groups "$@"
