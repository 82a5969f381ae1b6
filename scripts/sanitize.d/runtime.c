// Linked into every executable of a sanitized build: what the sanitizer is told.
//
// The options stand here and not in the environment, since the agent gives its children an environment of its own.
//
// To ThreadSanitizer it tells what comes before what in code of Swift's libraries, which is not instrumented. Without this
// file both sanitizers report scripts/sanitize.d/sound.swift, which has no fault; with it they do not.
//
// Mutex: its quick path is compiled into the code that uses it, and so instrumented. Its slow path is in
// libswiftSynchronization and asks the kernel (FUTEX_LOCK_PI): neither is seen that whoever waited comes after whoever
// unlocked, nor that an unlock with a waiter is one.
//
// Continuations: the runtime tells of each resumption, and of a task that was suspended and goes on. Of one that was
// resumed before it was suspended, and goes on at once, it does not.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

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

// The beginning of every asynchronous context.
struct context {
  struct context *parent;
  __attribute__((swiftasynccall)) void (*resume)(__attribute__((swift_async_context)) struct context *context);
};
typedef __attribute__((swiftcall)) void *init_function(struct context *continuation, size_t flags);

static init_function *init_in_library;
extern void *swift_task_getCurrent(void);

// Comes between the end of the wait and the code behind it.
__attribute__((swiftasynccall)) static void resumed(
    __attribute__((swift_async_context)) struct context *continuation) {
  struct context *own = continuation->parent;
  *continuation = *own;
  free(own);
  __tsan_acquire(swift_task_getCurrent());
  __attribute__((musttail)) return continuation->resume(continuation);
}

__attribute__((swiftcall)) void *swift_continuation_init(struct context *continuation, size_t flags) {
  // What stood there is kept in a context of its own, so that the chain of parents stays one.
  struct context *own = malloc(sizeof *own);
  if (!own) abort();
  *own = *continuation;
  continuation->parent = own;
  continuation->resume = resumed;
  return init_in_library(continuation, flags);
}

__attribute__((constructor)) static void find_libraries(void) {
  lock_in_library = (lock_function *)dlsym(RTLD_NEXT, LOCK);
  unlock_in_library = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
  init_in_library = (init_function *)dlsym(RTLD_NEXT, "swift_continuation_init");
}

#else

const char *__asan_default_options(void) { return OPTIONS; }

// An object that was once referred to weakly has a side table, and keeps its place among the bits of its reference counts,
// shifted: LeakSanitizer sees no pointer there. sound.swift has such an object; nothing else is allocated in that function.
// Foundation loses its buffer when it reads a file whose length the kernel says is 0, as it does of an empty file and of all
// of /proc: sound.swift reads one. Only the tests and commands that end soon read such files so; the agent does not.
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
const char *__lsan_default_suppressions(void) { return "leak:formWeakReference\nleak:readBytesFromFile\n"; }

#endif
