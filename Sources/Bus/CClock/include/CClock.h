#pragma once

#include <stdint.h>
#include <time.h>

// The machine's clock, independent of the time that a process assumes, and the page in which a host publishes the
// device's time to the processes of its device. All times are nanoseconds since 1970-01-01 00:00:00 UTC.

/// Calls the C library's clock_gettime, also in an executable that overrides it.
int machine_clock_gettime(clockid_t clock, struct timespec *now);

/// Returns the machine's time.
int64_t machine_time(void);

/// Size in bytes of a page file. Readers map it read-only, its single writer maps it read-write. A new page is all
/// zeros.
enum { clock_page_size = 4096 };

/// Sets the device's time to `origin + (machine_time() - since) * rate` from now on. If the writer is killed halfway,
/// the previous setting stays in force. One writer at a time.
void clock_page_set(void *page, int64_t origin, int64_t since, double rate);

/// Returns the device's time, or the machine's time while the page is not set.
int64_t clock_page_now(const void *page);
