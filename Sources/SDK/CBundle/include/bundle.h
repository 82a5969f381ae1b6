// SPDX-License-Identifier: Apache-2.0

#pragma once

// `Bundle.main` of an author's process is the bundle that the agent made. This target has no function to call. See
// bundle.c.
//
// The agent passes the path of the executable in its bundle in this environment variable.
#define BUNDLE_EXECUTABLE "WIDGETLAB_BUNDLE"
