// SPDX-License-Identifier: Apache-2.0

#pragma once

// The wall clock of an author's process is the device clock. There is no function to call: device_clock.c replaces the
// functions of the C library that return the time of day or wait for one.
//
// The host passes the path of the page with the device's time (CPlatform.h) in this environment variable.
#define DEVICE_CLOCK_PAGE "WIDGETLAB_CLOCK_PAGE"
