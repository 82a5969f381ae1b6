#pragma once

#include <stdint.h>
#include <time.h>

// The machine's clock, whatever a process takes for the time; and the page by which a host tells the processes of its
// device what time it is there. All times are nanoseconds since 1970-01-01 00:00:00 UTC.

/// The C library's own clock_gettime, also in an executable that puts another one in its place.
int machine_clock_gettime(clockid_t clock, struct timespec *now);

/// What the machine takes for the time.
int64_t machine_time(void);

/// Bytes of the file of a page, which a reader maps for reading and its one writer for both. A new one is all zeros.
enum { clock_page_size = 4096 };

/// From now on the device's time is `origin + (machine_time() - since) * rate`. A writer that dies in the middle leaves
/// what was so before. One writer at a time.
void clock_page_set(void *page, int64_t origin, int64_t since, double rate);

/// The device's time; the machine's, when nobody has set the page.
int64_t clock_page_now(const void *page);
