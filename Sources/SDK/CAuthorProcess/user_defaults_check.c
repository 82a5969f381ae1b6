// SPDX-License-Identifier: Apache-2.0

// Separate from user_defaults.c: --wrap concerns only functions that the calling file does not define.
#include "user_defaults.h"

#include <unistd.h>

unsigned char CFPreferencesAppSynchronize(const void *application);
unsigned char __wrap_CFPreferencesAppSynchronize(const void *application);

bool user_defaults_are_replaced(void) {
  // Volatile, because the compiler considers two functions of different names different.
  unsigned char (*volatile called)(const void *) = CFPreferencesAppSynchronize;
  unsigned char (*volatile ours)(const void *) = __wrap_CFPreferencesAppSynchronize;
  return called == ours;
}

/// Reports an executable whose defaults are not shared.
__attribute__((constructor)) static void check(void) {
  static const char message[] =
      "UserDefaults of this executable are Foundation's: not shared with the app or the extension, and lost when the "
      "process ends. An executable with a static Swift runtime needs the linker flags of WidgetLab's "
      "Documentation/authors.md, \"Texts in the device's language\" and \"User defaults\".\n";
  if (!user_defaults_are_replaced() && write(STDERR_FILENO, message, sizeof message - 1) < 0) return;
}
