#pragma once

#include <spawn.h>
#include <sys/types.h>

// Linux process functions that Swift cannot import: functions with variable arguments, system calls without a wrapper
// in the C library of Debian 12, and functions that its headers declare with _GNU_SOURCE only.
// Each returns -1 with the reason in errno unless stated otherwise.

/// prctl(PR_SET_PDEATHSIG, signal): the kernel sends this process the signal when the thread that spawned it ends. The
/// setting belongs to the calling thread, which therefore must be the main one; other threads get EDEADLK.
int process_set_parent_death_signal(int signal);

/// prctl(PR_SET_NAME): the name that `ps -L` and /proc/PID/comm show for this thread, at most 15 bytes.
int process_set_name(const char *name);

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

/// posix_spawn_file_actions_addclosefrom_np(actions, 3): the child inherits its three standard descriptors only.
/// Sockets of libraries may lack close-on-exec, and a child that inherits one keeps the connection open. Returns 0 or
/// an errno.
int process_close_others(posix_spawn_file_actions_t *actions);

/// posix_spawn with a new session, no blocked and no ignored signal, `directory` as the working directory, the three
/// descriptors as 0, 1 and 2, and no others. Returns 0, or the errno of the failure; then nothing was started.
int process_spawn(
    pid_t *pid, const char *path, char *const arguments[], char *const environment[], const char *directory,
    int standard_input, int standard_output, int standard_error);
