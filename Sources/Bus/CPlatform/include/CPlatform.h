// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <time.h>

// What Swift cannot call or express: Linux functions with variable arguments, system calls without a wrapper in the C
// library of Debian 12, functions that its headers declare with _GNU_SOURCE only, atomics in shared memory, and a
// processor instruction.

// MARK: Clock
//
// The machine's clock, independent of the time that a process assumes, and the page in which a host publishes the
// device's time to the processes of its device. All times are nanoseconds since 1970-01-01 00:00:00 UTC.

/// Calls the C library's clock_gettime, also in an executable that overrides it. The clock jumps by the seconds of the
/// process's fault page.
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

/// Returns the kernel's time, which a jump of the machine's clock does not change.
int64_t kernel_time(void);

// MARK: Semaphores
//
// Counting semaphores of one process, whose waits are measured by CLOCK_MONOTONIC.

void *semaphore_create(void);
void semaphore_destroy(void *semaphore);
void semaphore_signal(void *semaphore);

/// Waits for a signal. Returns 0, or -1 when the time is over.
int semaphore_wait(void *semaphore, int64_t nanoseconds);

// MARK: Processes
//
// Each function returns -1 with the reason in errno unless stated otherwise.

/// prctl(PR_SET_PDEATHSIG, signal): the kernel sends this process the signal when the thread that spawned it ends. The
/// setting belongs to the calling thread, which therefore must be the main one; other threads get EDEADLK.
int process_set_parent_death_signal(int signal);

/// prctl(PR_SET_NAME): the name that `ps -L` and /proc/PID/comm show for this thread, at most 15 bytes.
int process_set_name(const char *name);

/// Loads what the C library needs at the end of a thread (libgcc_s.so.1), which it would open then. With no free
/// descriptor it ends the process instead.
void process_prepare_thread_ends(void);

/// setvbuf(stdout, _IOLBF): makes standard output line-buffered, also into a pipe. Call it before anything is printed.
int process_print_by_line(void);

/// Opens a pidfd, which becomes readable when the process has ended. Closed on exec.
int process_open_pidfd(pid_t pid);

/// Sends a signal to the process of a pidfd, and never to another process that reused its pid.
int process_signal_pidfd(int pidfd, int signal);

/// ioctl(FICLONE): makes `destination` share the blocks of `source`, where the file system supports it.
int process_clone_file(int destination, int source);

/// pipe2(O_CLOEXEC). descriptors[0] is the reading end.
int process_pipe(int descriptors[2]);

/// posix_spawn with no blocked and no ignored signal, the three descriptors as 0, 1 and 2, and no others. The child
/// leads a new session, or a new process group of the caller's session. `directory` is its working directory; NULL is
/// the caller's. Returns 0, or the errno of the failure; then nothing was started.
int process_spawn(
    pid_t *pid, const char *path, char *const arguments[], char *const environment[], const char *directory,
    const int standard[3], int new_session);

// MARK: Traps
//
// A process records the signal of the trap that ends it in memory that it shares with its successor.

/// Stores the number of SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE or SIGSEGV in `word` when it ends this process. The
/// former handler, or the default action, follows. The memory must stay mapped.
void process_record_traps(uint32_t *word);

/// The name of such a signal, such as SIGILL; NULL for another.
const char *process_trap_name(int signal);

/// Stores a word after everything that this thread has stored before.
static inline void shared_store(void *word, uint32_t value) {
  __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELEASE);
}

// MARK: Checksum

/// Updates a running CRC-32 (reflected polynomial 0xedb88320, not inverted) with the processor's carry-less
/// multiplication, about ten times as fast as a table.
///
/// Returns the number of bytes processed: a multiple of 16 that leaves fewer than 16, or 0 for fewer than 64 bytes and
/// where the processor lacks the instruction. The caller processes the rest.
size_t checksum_fold(const void *bytes, size_t count, uint32_t *sum);

// MARK: Digest
//
// In C, because the same code in Swift is about ten times as slow in a debug build, and an author's process links no
// cryptographic library.

/// Writes the SHA-256 of bytes to `digest` (32 bytes).
void digest_sha256(const void *bytes, size_t count, uint8_t *digest);

/// Writes the SHA-256 of the rest of a file to `digest` (32 bytes). Returns -1 with the reason in errno; EFBIG when more
/// than `limit` bytes follow.
int digest_sha256_of_file(int descriptor, int64_t limit, uint8_t *digest);

// MARK: Fault points
//
// The page of an instance that an injector shares with the processes of a cluster: armed faults, and for each process
// the last point that it reached. FaultPoints documents it. Faults are performed only while the injector, which holds a
// lock on the file, runs. Texts that are longer than `fault_text_size - 1` are cut.

enum { fault_page_size = 131072, fault_text_size = 256, fault_slots = 64 };

/// What happens at a point or on a line. `value` is milliseconds for a stall or a delay, and an errno for a failure.
enum { fault_crash = 1, fault_stall, fault_fail, fault_delay, fault_cut, fault_double, fault_trap };

/// What a process reached last.
struct fault_state {
  int32_t pid;
  /// 0: no point yet.
  uint32_t point;
  /// How many points it has reached.
  uint64_t count;
  /// Nanoseconds since it reached the point.
  int64_t age;
};

/// Creates the file and maps it, with the lock of the injector. NULL with the reason in errno; EWOULDBLOCK when another
/// injector has it.
void *fault_page_create(const char *path, int *descriptor);

/// Releases the lock of the injector: no fault takes effect any more.
void fault_page_release(int descriptor);

/// Arms a fault at a point of a process, or of each process if the text is empty. The first `skipped` hits and those
/// after the next `times` have no effect. Returns the slot, or -1 when all are in use.
int fault_page_arm_point(
    void *page, const char *process, uint32_t point, uint32_t action, uint32_t value, uint32_t skipped,
    uint32_t times);

/// Arms a fault on a line of the bus. An empty text matches each address or type.
int fault_page_arm_line(
    void *page, const char *source, const char *destination, const char *type, uint32_t action, uint32_t value,
    uint32_t skipped, uint32_t times);

/// Ends a fault, and frees its slot. A stall that is under way ends.
void fault_page_disarm(void *page, int slot);

/// How often an armed fault took effect.
uint32_t fault_page_performed(void *page, int slot);

/// Writes what a process instance reached; `pid` 0 selects the last one, -1 the one before it. Returns 0, or -1 when it
/// never joined or too many instances followed it.
int fault_page_state(void *page, const char *process, int32_t pid, struct fault_state *state);

/// Sets the machine's clock of the processes that have the page forward by so many seconds, or back: not the real clock,
/// but what they read as CLOCK_REALTIME. 0 ends it.
void fault_page_jump(void *page, int64_t seconds);

/// The seconds by which the machine's clock of this process has jumped; NULL in ordinary use.
extern int64_t *machine_jump_here;

/// Maps the page of an instance into this process under a name. Once in a process; returns -1 with the reason in errno,
/// ENOENT without the file.
int fault_page_join(const char *path, const char *process);

/// The page of this process; NULL in ordinary use.
extern void *fault_page_here;

/// This process, which has a page, reached a point. Returns the errno of a fault of the kind fail, or 0.
int fault_point_perform(uint32_t point);

/// An envelope is forwarded. `may_double`: whether it may arrive twice. Returns the action of an armed fault, or 0.
uint32_t fault_line_perform(
    const char *source, const char *destination, const char *type, int may_double, uint32_t *value);
/// Whether a fault on a line is armed in the page of this process.
int fault_page_has_lines(void);

/// Whether this process has a page.
static inline int fault_page_is_here(void) {
  return __builtin_expect(__atomic_load_n(&fault_page_here, __ATOMIC_RELAXED) != NULL, 0);
}

// MARK: Files
//
// The status of a file. Which C module owns the C library's `struct stat` depends on the first import of a compiled batch,
// and Swift then lacks its members in files with other imports.

typedef struct {
  uint64_t device, inode;
  uint32_t mode, owner;
  /// In bytes.
  int64_t size;
  /// Of the last change of the content, since 1970-01-01 00:00:00 UTC.
  int64_t seconds, nanoseconds;
} file_status;

/// stat, lstat and fstat: return 0, or -1 with the reason in errno.
int file_status_at_path(const char *path, file_status *status);
int file_status_of_link(const char *path, file_status *status);
int file_status_of_descriptor(int descriptor, file_status *status);
