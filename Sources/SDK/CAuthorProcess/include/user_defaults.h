// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stdbool.h>

// UserDefaults of Foundation calls these functions of CoreFoundation. They are replaced by those of UserDefaultsAPI:
// in an executable that links Foundation dynamically because a function of an executable takes precedence over those
// of its shared libraries, in a static one by the linker's option --wrap. See user_defaults.c.
//
// All objects are instances of NSObject's subclasses. `domain` is NULL for the standard domain of the process.

/// CFPreferencesCopyAppValue: returns a retained object, or NULL.
const void *user_defaults_copy(const void *key, const void *domain);

/// CFPreferencesSetAppValue: NULL removes the key.
void user_defaults_set(const void *key, const void *value, const void *domain);

/// CFPreferencesCopyMultiple for all keys: returns a retained NSDictionary.
const void *user_defaults_copy_all(const void *domain);

/// CFPreferencesAddSuitePreferencesToApp and CFPreferencesRemoveSuitePreferencesFromApp, for the standard domain.
void user_defaults_add_suite(const void *suite);
void user_defaults_remove_suite(const void *suite);

/// Whether Foundation calls the functions above in this executable.
bool user_defaults_are_replaced(void);
