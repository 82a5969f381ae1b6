// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CPlatform.h"

#include <dlfcn.h>
#include <stdatomic.h>

typedef int (*clock_function)(clockid_t, struct timespec *);

int64_t *machine_jump_here;

static int system_clock_gettime(clockid_t clock, struct timespec *now) {
  static _Atomic(clock_function) known;
  clock_function function = atomic_load_explicit(&known, memory_order_relaxed);
  if (!function) {
    // In an executable that defines its own clock_gettime, the next definition is the C library's.
    function = (clock_function)dlsym(RTLD_NEXT, "clock_gettime");
    atomic_store_explicit(&known, function, memory_order_relaxed);
  }
  return function(clock, now);
}

/// Finds the C library's function. Later, the search would wait for a thread that is loading a library.
__attribute__((constructor(101))) static void begin(void) {
  struct timespec now;
  system_clock_gettime(CLOCK_REALTIME, &now);
}

int machine_clock_gettime(clockid_t clock, struct timespec *now) {
  int result = system_clock_gettime(clock, now);
  const int64_t *jump = __atomic_load_n(&machine_jump_here, __ATOMIC_RELAXED);
  if (__builtin_expect(jump == NULL, 1) || result || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) {
    return result;
  }
  now->tv_sec += __atomic_load_n(jump, __ATOMIC_RELAXED);
  return 0;
}

// What Foundation calls, in a process that assumes no device time.
__attribute__((weak)) int clock_gettime(clockid_t clock, struct timespec *now) {
  return machine_clock_gettime(clock, now);
}

int64_t machine_time(void) {
  struct timespec now;
  machine_clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t kernel_time(void) {
  struct timespec now;
  system_clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

struct setting {
  _Atomic int64_t origin, since;
  _Atomic double rate;
};

/// Readers use the setting at the parity of `number`, the writer writes the other one. A reader therefore never gets
/// stuck with a half-written setting, even if the writer is killed.
struct page {
  _Atomic uint64_t number;
  struct setting settings[2];
};

// 2200-01-01: a clock at a high rate stops here instead of overflowing.
static const int64_t last = 7258118400 * 1000000000;

void clock_page_set(void *bytes, int64_t origin, int64_t since, double rate) {
  struct page *page = bytes;
  uint64_t number = atomic_load_explicit(&page->number, memory_order_relaxed) + 1;
  struct setting *setting = &page->settings[number & 1];
  atomic_store_explicit(&setting->origin, origin, memory_order_relaxed);
  atomic_store_explicit(&setting->since, since, memory_order_relaxed);
  atomic_store_explicit(&setting->rate, rate, memory_order_relaxed);
  atomic_store_explicit(&page->number, number, memory_order_release);
}

int64_t clock_page_now(const void *bytes) {
  const struct page *page = bytes;
  for (;;) {
    uint64_t number = atomic_load_explicit(&page->number, memory_order_acquire);
    if (!number) return machine_time();
    const struct setting *setting = &page->settings[number & 1];
    int64_t origin = atomic_load_explicit(&setting->origin, memory_order_relaxed);
    int64_t since = atomic_load_explicit(&setting->since, memory_order_relaxed);
    double rate = atomic_load_explicit(&setting->rate, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&page->number, memory_order_relaxed) != number) continue;
    if (rate == 0) return origin;
    int64_t elapsed = machine_time() - since;
    if (rate == 1) return origin + elapsed;
    double passed = (double)elapsed * rate;
    return passed < (double)(last - origin) ? origin + (int64_t)passed : last;
  }
}
