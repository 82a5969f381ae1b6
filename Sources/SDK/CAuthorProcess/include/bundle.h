// SPDX-License-Identifier: Apache-2.0

#pragma once

// `Bundle.main` of an author's process is the bundle that the agent made: see bundle.c. Its texts are those of
// `Localization`: see bundle_text.c. There is no function to call.
//
// The agent passes the path of the executable in its bundle in this environment variable.
#define BUNDLE_EXECUTABLE "WIDGETLAB_BUNDLE"

/// CFBundleCopyLocalizedString: returns a retained string. `Localization` implements it. All are instances of subclasses
/// of NSObject; `folder`, `key`, `value` and `table` may be NULL.
const void *bundle_localized_string(const void *folder, const void *key, const void *value, const void *table);
