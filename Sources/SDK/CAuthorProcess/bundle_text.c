// SPDX-License-Identifier: Apache-2.0

// `NSLocalizedString` and `Bundle.localizedString(forKey:value:table:)` call CFBundleCopyLocalizedString, which reads no
// `.xcstrings` catalog and takes the language of the machine. It is replaced as the functions in user_defaults.c are: by
// an exported function in a dynamic executable, by the linker's option --wrap in a static one.
#include "bundle.h"

const void *CFBundleCopyBundleURL(const void *bundle);
void CFRelease(const void *object);

const void *__wrap_CFBundleCopyLocalizedString(
    const void *bundle, const void *key, const void *value, const void *table) {
  const void *folder = CFBundleCopyBundleURL(bundle);
  const void *text = bundle_localized_string(folder, key, value, table);
  if (folder) CFRelease(folder);
  return text;
}
const void *CFBundleCopyLocalizedString(const void *bundle, const void *key, const void *value, const void *table)
    __attribute__((weak, alias("__wrap_CFBundleCopyLocalizedString")));
