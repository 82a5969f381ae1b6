// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { empty, claimed, ready };
enum { process_slots = 64 };

struct fault {
  _Atomic uint32_t state;
  uint32_t is_line, point, action, value, skipped, times;
  _Atomic uint32_t hits, performed;
  /// Of a point: the process. Of a line: source, destination and type.
  char texts[3][fault_text_size];
};

struct reached {
  _Atomic int32_t pid;
  _Atomic uint32_t point;
  /// Where the process ended itself; 0: nowhere. Its other threads run until the signal has reached them.
  _Atomic uint32_t crash;
  _Atomic uint64_t count;
  /// CLOCK_MONOTONIC.
  _Atomic int64_t at;
};

struct process {
  _Atomic uint32_t state;
  char name[fault_text_size];
  /// The current instance, and the one before it.
  struct reached current, previous;
};

struct page {
  _Atomic uint32_t points, lines;
  int64_t jump;
  struct fault faults[fault_slots];
  struct process processes[process_slots];
};

_Static_assert(sizeof(struct page) <= fault_page_size, "the page is too small");

void *fault_page_here;
static int descriptor_here;
static struct process *own;

static int64_t monotonic(void) {
  struct timespec now;
  machine_clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void copy_text(char *destination, const char *source) {
  strncpy(destination, source, fault_text_size - 1);
  destination[fault_text_size - 1] = 0;
}

static int is_text(const char *text, const char *other) { return strncmp(text, other, fault_text_size - 1) == 0; }

// MARK: The injector

void *fault_page_create(const char *path, int *descriptor) {
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return NULL;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(file, F_OFD_SETLK, &lock) == 0 && ftruncate(file, fault_page_size) == 0) {
    struct page *page = mmap(NULL, fault_page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) {
      // What an injector that was killed left armed.
      for (int slot = 0; slot < fault_slots; slot++) fault_page_disarm(page, slot);
      atomic_store(&page->points, 0);
      atomic_store(&page->lines, 0);
      fault_page_jump(page, 0);
      *descriptor = file;
      return page;
    }
  }
  int reason = errno == EAGAIN || errno == EACCES ? EWOULDBLOCK : errno;
  close(file);
  errno = reason;
  return NULL;
}

void fault_page_release(int descriptor) {
  struct flock unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  fcntl(descriptor, F_OFD_SETLK, &unlock);
}

static int arm(struct page *page, const struct fault *wanted) {
  for (int slot = 0; slot < fault_slots; slot++) {
    struct fault *fault = &page->faults[slot];
    uint32_t expected = empty;
    if (!atomic_compare_exchange_strong(&fault->state, &expected, claimed)) continue;
    fault->is_line = wanted->is_line;
    fault->point = wanted->point;
    fault->action = wanted->action;
    fault->value = wanted->value;
    fault->skipped = wanted->skipped;
    fault->times = wanted->times;
    memcpy(fault->texts, wanted->texts, sizeof fault->texts);
    atomic_store(&fault->hits, 0);
    atomic_store(&fault->performed, 0);
    atomic_store(&fault->state, ready);
    atomic_fetch_add(wanted->is_line ? &page->lines : &page->points, 1);
    return slot;
  }
  return -1;
}

int fault_page_arm_point(
    void *page, const char *process, uint32_t point, uint32_t action, uint32_t value, uint32_t skipped,
    uint32_t times) {
  struct fault fault = {.point = point, .action = action, .value = value, .skipped = skipped, .times = times};
  copy_text(fault.texts[0], process);
  return arm(page, &fault);
}

int fault_page_arm_line(
    void *page, const char *source, const char *destination, const char *type, uint32_t action, uint32_t value,
    uint32_t skipped, uint32_t times) {
  struct fault fault = {.is_line = 1, .action = action, .value = value, .skipped = skipped, .times = times};
  copy_text(fault.texts[0], source);
  copy_text(fault.texts[1], destination);
  copy_text(fault.texts[2], type);
  return arm(page, &fault);
}

void fault_page_disarm(void *bytes, int slot) {
  struct page *page = bytes;
  struct fault *fault = &page->faults[slot];
  if (atomic_exchange(&fault->state, empty) == ready) {
    atomic_fetch_sub(fault->is_line ? &page->lines : &page->points, 1);
  }
}

void fault_page_jump(void *page, int64_t seconds) {
  __atomic_store_n(&((struct page *)page)->jump, seconds, __ATOMIC_RELAXED);
}

uint32_t fault_page_performed(void *page, int slot) {
  return atomic_load(&((struct page *)page)->faults[slot].performed);
}

int fault_page_state(void *bytes, const char *name, int32_t pid, struct fault_state *state) {
  struct page *page = bytes;
  for (int slot = 0; slot < process_slots; slot++) {
    struct process *process = &page->processes[slot];
    if (atomic_load(&process->state) != ready || !is_text(process->name, name)) continue;
    struct reached *reached = &process->current;
    if (pid < 0 || (pid && atomic_load(&reached->pid) != pid)) reached = &process->previous;
    int32_t found = atomic_load(&reached->pid);
    if (!found || (pid > 0 && found != pid)) return -1;
    uint32_t crash = atomic_load(&reached->crash);
    *state = (struct fault_state){
        .pid = found, .point = crash ? crash : atomic_load(&reached->point), .count = atomic_load(&reached->count),
        .age = monotonic() - atomic_load(&reached->at)};
    return 0;
  }
  return -1;
}

// MARK: The processes

static struct process *claim(struct page *page, const char *name) {
  for (int slot = 0; slot < process_slots; slot++) {
    struct process *process = &page->processes[slot];
    if (atomic_load(&process->state) == ready && is_text(process->name, name)) return process;
  }
  for (int slot = 0; slot < process_slots; slot++) {
    struct process *process = &page->processes[slot];
    uint32_t expected = empty;
    if (!atomic_compare_exchange_strong(&process->state, &expected, claimed)) continue;
    copy_text(process->name, name);
    atomic_store(&process->state, ready);
    return process;
  }
  return NULL;
}

int fault_page_join(const char *path, const char *name) {
  int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return -1;
  struct stat status;
  struct page *page = MAP_FAILED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == fault_page_size) {
    page = mmap(NULL, fault_page_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  } else {
    errno = EINVAL;
  }
  struct process *process = page == MAP_FAILED ? NULL : claim(page, name);
  if (!process) {
    int reason = page == MAP_FAILED ? errno : ENOSPC;
    close(file);
    errno = reason;
    return -1;
  }
  struct reached *current = &process->current, *previous = &process->previous;
  atomic_store(&previous->pid, 0);
  atomic_store(&previous->point, atomic_load(&current->point));
  atomic_store(&previous->crash, atomic_load(&current->crash));
  atomic_store(&previous->count, atomic_load(&current->count));
  atomic_store(&previous->at, atomic_load(&current->at));
  atomic_store(&previous->pid, atomic_load(&current->pid));
  atomic_store(&current->pid, 0);
  atomic_store(&current->point, 0);
  atomic_store(&current->crash, 0);
  atomic_store(&current->count, 0);
  atomic_store(&current->at, monotonic());
  atomic_store(&current->pid, getpid());
  descriptor_here = file;
  own = process;
  __atomic_store_n(&machine_jump_here, &page->jump, __ATOMIC_RELAXED);
  __atomic_store_n(&fault_page_here, page, __ATOMIC_RELEASE);
  return 0;
}

static int has_injector(void) {
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(descriptor_here, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// Counts a hit of a fault. Returns whether the fault takes effect now.
static int takes_effect(struct fault *fault) {
  uint32_t hit = atomic_fetch_add(&fault->hits, 1);
  if (hit < fault->skipped || hit - fault->skipped >= fault->times || !has_injector()) return 0;
  atomic_fetch_add(&fault->performed, 1);
  return 1;
}

/// The kernel reports neither the end of a fault nor that of the injector, so both are looked at every 5 ms.
static void stall(struct fault *fault, uint32_t milliseconds) {
  int64_t end = monotonic() + (int64_t)milliseconds * 1000000;
  while (monotonic() < end && atomic_load(&fault->state) == ready && has_injector()) usleep(5000);
}

int fault_point_perform(uint32_t point) {
  struct page *page = __atomic_load_n(&fault_page_here, __ATOMIC_ACQUIRE);
  atomic_store_explicit(&own->current.point, point, memory_order_relaxed);
  atomic_store_explicit(&own->current.at, monotonic(), memory_order_relaxed);
  atomic_fetch_add_explicit(&own->current.count, 1, memory_order_relaxed);
  if (!atomic_load_explicit(&page->points, memory_order_relaxed)) return 0;
  for (int slot = 0; slot < fault_slots; slot++) {
    struct fault *fault = &page->faults[slot];
    if (atomic_load(&fault->state) != ready || fault->is_line || fault->point != point) continue;
    if (fault->texts[0][0] && !is_text(fault->texts[0], own->name)) continue;
    uint32_t action = fault->action, value = fault->value;
    if (!takes_effect(fault)) continue;
    switch (action) {
      case fault_crash:
        atomic_store(&own->current.crash, point);
        kill(getpid(), SIGKILL);
        break;
      case fault_trap:
        atomic_store(&own->current.crash, point);
        __builtin_trap();
      case fault_stall: stall(fault, value); break;
      case fault_fail: return (int)value;
    }
  }
  return 0;
}

int fault_page_has_lines(void) {
  struct page *page = __atomic_load_n(&fault_page_here, __ATOMIC_ACQUIRE);
  return atomic_load_explicit(&page->lines, memory_order_relaxed) != 0;
}

uint32_t fault_line_perform(
    const char *source, const char *destination, const char *type, int may_double, uint32_t *value) {
  struct page *page = __atomic_load_n(&fault_page_here, __ATOMIC_ACQUIRE);
  const char *texts[3] = {source, destination, type};
  for (int slot = 0; slot < fault_slots; slot++) {
    struct fault *fault = &page->faults[slot];
    if (atomic_load(&fault->state) != ready || !fault->is_line) continue;
    int matches = fault->action != fault_double || may_double;
    for (int index = 0; index < 3; index++) {
      matches &= !fault->texts[index][0] || is_text(fault->texts[index], texts[index]);
    }
    uint32_t action = fault->action;
    *value = fault->value;
    if (matches && takes_effect(fault)) return action;
  }
  return 0;
}
