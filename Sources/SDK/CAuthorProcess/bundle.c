// SPDX-License-Identifier: Apache-2.0

// CoreFoundation derives the main bundle from the path of the executable, which it stores once and exposes with
// `_CFGetProcessPath`. So that path is set before any of the author's code runs, with a static or a shared runtime.
#include "bundle.h"

#include <stdlib.h>
#include <string.h>

const char **_CFGetProcessPath(void);

__attribute__((constructor)) static void set_process_path(void) {
  const char *path = getenv(BUNDLE_EXECUTABLE);
  // CoreFoundation never frees it.
  if (path && *path == '/') *_CFGetProcessPath() = strdup(path);
}
