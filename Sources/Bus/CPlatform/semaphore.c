// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

void *semaphore_create(void) {
  sem_t *semaphore = malloc(sizeof *semaphore);
  if (!semaphore || sem_init(semaphore, 0, 0)) abort();
  return semaphore;
}

void semaphore_destroy(void *semaphore) {
  sem_destroy(semaphore);
  free(semaphore);
}

void semaphore_signal(void *semaphore) { sem_post(semaphore); }

int semaphore_wait(void *semaphore, int64_t nanoseconds) {
  struct timespec end;
  machine_clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t rest = end.tv_nsec + nanoseconds % 1000000000;
  end.tv_sec += nanoseconds / 1000000000 + rest / 1000000000;
  end.tv_nsec = rest % 1000000000;
  int result;
  do {
    result = sem_clockwait(semaphore, CLOCK_MONOTONIC, &end);
  } while (result && errno == EINTR);
  return result;
}
