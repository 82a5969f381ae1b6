#pragma once

// The wall clock of an author's process is the device's: this target has nothing to call. It puts its own functions in the
// place of the C library's that tell the time of day, or wait until one. See device_clock.c.
//
// The host names the page (CClock.h) that tells the device's time in this variable of the environment.
#define DEVICE_CLOCK_PAGE "WIDGETLAB_CLOCK_PAGE"
