// SPDX-License-Identifier: Apache-2.0

#ifndef CConsolePage_h
#define CConsolePage_h

#include <stddef.h>

/// A file of the console's page.
struct console_file {
  const char *name;
  const unsigned char *bytes;
  size_t length;
};

/// The files of Sources/Observability/Console/Resources, by index; NULL after the last one.
const struct console_file *console_file_at(size_t index);

#endif
