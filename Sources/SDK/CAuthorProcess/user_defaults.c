// SPDX-License-Identifier: Apache-2.0

// Foundation's functions by two names each. `--wrap=X` of the linker redirects the calls of X to `__wrap_X`. A dynamic
// executable exports X, and libFoundation.so calls the exported function. X is weak, because a static executable
// without --wrap has Foundation's own too.
#include "user_defaults.h"

extern const void *const kCFPreferencesCurrentApplication;

static const void *named(const void *application) {
  return application == kCFPreferencesCurrentApplication ? 0 : application;
}

#define REPLACED(name) __attribute__((weak, alias("__wrap_" #name)))

const void *__wrap_CFPreferencesCopyAppValue(const void *key, const void *application) {
  return user_defaults_copy(key, named(application));
}
const void *CFPreferencesCopyAppValue(const void *key, const void *application) REPLACED(CFPreferencesCopyAppValue);

void __wrap_CFPreferencesSetAppValue(const void *key, const void *value, const void *application) {
  user_defaults_set(key, value, named(application));
}
void CFPreferencesSetAppValue(const void *key, const void *value, const void *application)
    REPLACED(CFPreferencesSetAppValue);

/// Foundation passes no keys, which means all of them.
const void *__wrap_CFPreferencesCopyMultiple(
    const void *keys, const void *application, const void *user, const void *host) {
  (void)keys;
  (void)user;
  (void)host;
  return user_defaults_copy_all(named(application));
}
const void *CFPreferencesCopyMultiple(const void *keys, const void *application, const void *user, const void *host)
    REPLACED(CFPreferencesCopyMultiple);

/// Each change is in the file when it was made.
unsigned char __wrap_CFPreferencesAppSynchronize(const void *application) {
  (void)application;
  return 1;
}
unsigned char CFPreferencesAppSynchronize(const void *application) REPLACED(CFPreferencesAppSynchronize);

void __wrap_CFPreferencesAddSuitePreferencesToApp(const void *application, const void *suite) {
  (void)application;
  user_defaults_add_suite(suite);
}
void CFPreferencesAddSuitePreferencesToApp(const void *application, const void *suite)
    REPLACED(CFPreferencesAddSuitePreferencesToApp);

void __wrap_CFPreferencesRemoveSuitePreferencesFromApp(const void *application, const void *suite) {
  (void)application;
  user_defaults_remove_suite(suite);
}
void CFPreferencesRemoveSuitePreferencesFromApp(const void *application, const void *suite)
    REPLACED(CFPreferencesRemoveSuitePreferencesFromApp);
