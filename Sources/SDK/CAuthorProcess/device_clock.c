// SPDX-License-Identifier: Apache-2.0

// The functions of an executable take precedence over those of its shared libraries, for its own code and for theirs,
// so no library has to be preloaded. Clocks that measure durations (CLOCK_MONOTONIC, CLOCK_BOOTTIME) are not changed,
// so sleeps and network timeouts are real. Some waits of Swift end at a wall clock time. They last as many real
// seconds as the device clock needs to reach it.
#define _GNU_SOURCE
#include "device_clock.h"

#include <CPlatform.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const void *page;

/// Runs before the author's code and before C++ constructors.
__attribute__((constructor(101))) static void begin(void) {
  // Finds the C library's function now. Later, the search would wait for a thread that is loading a library.
  struct timespec now;
  machine_clock_gettime(CLOCK_REALTIME, &now);
  const char *path = getenv(DEVICE_CLOCK_PAGE);
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  struct stat found;
  if (!fstat(file, &found) && found.st_size >= clock_page_size) {
    void *mapped = mmap(NULL, clock_page_size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) page = mapped;
  }
  close(file);
}

static int64_t nanoseconds(const struct timespec *time) { return time->tv_sec * 1000000000 + time->tv_nsec; }

static struct timespec timespec(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

// MARK: The current time

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!page || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return machine_clock_gettime(clock, now);
  *now = timespec(clock_page_now(page));
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &time)) return -1;
  *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *now) {
  struct timespec time;
  if (clock_gettime(CLOCK_REALTIME, &time)) return -1;
  if (now) *now = time.tv_sec;
  return time.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
  return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, now) ? base : 0;
}

// MARK: Waiting for a time

/// The time at which the kernel ends a wait. A time before 2001-09-09 belongs to a monotonic clock or has passed: the
/// device clock is never set to it.
static struct timespec machine_instant(const struct timespec *instant) {
  if (!page || instant->tv_sec < 1000000000) return *instant;
  return timespec(kernel_time() + nanoseconds(instant) - clock_page_now(page));
}

/// The function of this name in the C library.
#define NEXT(name) \
  static _Atomic(__typeof__(&name)) known; \
  __typeof__(&name) next = known; \
  if (!next) known = next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end) {
  NEXT(sem_timedwait);
  struct timespec instant = machine_instant(end);
  return next(semaphore, &instant);
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict end) {
  NEXT(pthread_cond_timedwait);
  struct timespec instant = machine_instant(end);
  return next(condition, mutex, &instant);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict end) {
  NEXT(pthread_mutex_timedlock);
  struct timespec instant = machine_instant(end);
  return next(mutex, &instant);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *value, struct itimerspec *former) {
  NEXT(timerfd_settime);
  struct itimerspec real = *value;
  if (flags & TFD_TIMER_ABSTIME) real.it_value = machine_instant(&value->it_value);
  return next(timer, flags, &real, former);
}
