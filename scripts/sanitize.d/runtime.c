// SPDX-License-Identifier: Apache-2.0

// Linked into every executable of a sanitized build: the options and annotations for the sanitizer.
//
// The options are here and not in the environment, because the agent gives its children a new environment.
//
// ThreadSanitizer gets the happens-before relations in code of Swift's libraries, which is not instrumented. Without
// this file both sanitizers report errors in scripts/sanitize.d/sound.swift, which is correct; with it they do not.
//
// Mutex: its fast path is inlined into its users, and therefore instrumented. Its slow path is in
// libswiftSynchronization and uses the kernel (FUTEX_LOCK_PI), so ThreadSanitizer sees neither that a waiter runs after
// the unlock nor that an unlock with a waiter is an unlock.
//
// Continuations: the runtime annotates each resumption, and a suspended task that continues. It does not annotate a
// task that was resumed before it was suspended and so continues at once.
//
// Reference counts: a buffer that was copied is changed in place once the copies are released. The counts are in
// libswiftCore, so ThreadSanitizer does not see that the change comes after a read of the last copy.
//
// Crashes: Swift's handler of a crash calls clone, where a check of ThreadSanitizer fails: the process exits with 66
// instead of ending by its signal. Without clone the handler prints no backtrace, which would also take minutes.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int clone(void) {
  errno = ENOSYS;
  return -1;
}

#ifdef THREAD

void __tsan_acquire(void *address);
void __tsan_release(void *address);
const char *__tsan_default_options(void) { return OPTIONS; }

#define SELF __attribute__((swift_context)) void *
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"  // Synchronization._MutexHandle._lockSlow(UInt32)
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"      // Synchronization._MutexHandle._unlockSlow()

typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, SELF handle);
typedef __attribute__((swiftcall)) void unlock_function(SELF handle);

static lock_function *lock_in_library;
static unlock_function *unlock_in_library;

__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF handle) __asm__(LOCK);
__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF handle) {
  lock_in_library(thread, handle);
  __tsan_acquire(handle);
}

__attribute__((swiftcall)) void unlock_slow(SELF handle) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlock_slow(SELF handle) {
  __tsan_release(handle);
  unlock_in_library(handle);
}

// The header of every asynchronous context.
struct context {
  struct context *parent;
  __attribute__((swiftasynccall)) void (*resume)(__attribute__((swift_async_context)) struct context *context);
};
typedef __attribute__((swiftcall)) void *init_function(struct context *continuation, size_t flags);

static init_function *init_in_library;
extern void *swift_task_getCurrent(void);

// Runs between the end of the wait and the code after it.
__attribute__((swiftasynccall)) static void resumed(
    __attribute__((swift_async_context)) struct context *continuation) {
  struct context *own = continuation->parent;
  *continuation = *own;
  free(own);
  __tsan_acquire(swift_task_getCurrent());
  __attribute__((musttail)) return continuation->resume(continuation);
}

__attribute__((swiftcall)) void *swift_continuation_init(struct context *continuation, size_t flags) {
  // The previous content is copied to a separate context, so that the chain of parents stays intact.
  struct context *own = malloc(sizeof *own);
  if (!own) abort();
  *own = *continuation;
  continuation->parent = own;
  continuation->resume = resumed;
  return init_in_library(continuation, flags);
}

typedef void release_function(void *object);
typedef size_t count_function(void *object);
typedef _Bool unique_function(const void *object);

static release_function *release_in_library, *bridge_release_in_library;
static count_function *count_in_library;
static unique_function *unique_in_library;

// Each of these may be called before the constructor of this file.
static void release_when_shared(void *object) {
  if (!count_in_library) count_in_library = (count_function *)dlsym(RTLD_NEXT, "swift_retainCount");
  if (object && count_in_library(object) > 1) __tsan_release(object);
}

void swift_release(void *object) {
  if (!release_in_library) release_in_library = (release_function *)dlsym(RTLD_NEXT, "swift_release");
  release_when_shared(object);
  release_in_library(object);
}

// A reference with bits of its own. With the highest bit set it is a value without reference count.
void swift_bridgeObjectRelease(void *reference) {
  if (!bridge_release_in_library)
    bridge_release_in_library = (release_function *)dlsym(RTLD_NEXT, "swift_bridgeObjectRelease");
  if (!((uintptr_t)reference >> 63)) release_when_shared((void *)((uintptr_t)reference & 0x00fffffffffffff8));
  bridge_release_in_library(reference);
}

#define UNIQUE "swift_isUniquelyReferenced_nonNull_native"

_Bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
  if (!unique_in_library) unique_in_library = (unique_function *)dlsym(RTLD_NEXT, UNIQUE);
  _Bool is_unique = unique_in_library(object);
  if (is_unique) __tsan_acquire((void *)object);
  return is_unique;
}

__attribute__((constructor)) static void find_libraries(void) {
  lock_in_library = (lock_function *)dlsym(RTLD_NEXT, LOCK);
  unlock_in_library = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
  init_in_library = (init_function *)dlsym(RTLD_NEXT, "swift_continuation_init");
}

#else

const char *__asan_default_options(void) { return OPTIONS; }

#endif
