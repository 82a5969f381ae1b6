// SPDX-License-Identifier: Apache-2.0

#include "CConsolePage.h"

// The preprocessor reads the files, in no measurable time. Decision 0020 has the reason.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../Console/Resources/index.html"
};

#define FILE_ROW(name, bytes) {name, bytes, sizeof(bytes)}

static const struct console_file files[] = {
    FILE_ROW("index.html", index_html),
};

const struct console_file *console_file_at(size_t index) {
  return index < sizeof(files) / sizeof(files[0]) ? &files[index] : NULL;
}
