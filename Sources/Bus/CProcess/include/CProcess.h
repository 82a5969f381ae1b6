#pragma once

#include <spawn.h>
#include <sys/types.h>

// What Linux offers for processes and Swift cannot import: functions with a variable number of arguments, system calls
// that the C library of Debian 12 has no wrapper for, and what its headers show with _GNU_SOURCE only.
// Each returns -1 with the reason in errno unless it says otherwise.

/// prctl(PR_SET_PDEATHSIG, signal): the kernel sends this process the signal when the thread that spawned it ends. It
/// forgets that with the thread that asked, which therefore must be the main one; EDEADLK to any other.
int process_set_parent_death_signal(int signal);

/// prctl(PR_SET_NAME): what `ps -L` and /proc/PID/comm show for this thread; 15 bytes of it.
int process_set_name(const char *name);

/// setvbuf(stdout, _IOLBF): what is printed leaves the process line by line, also into a pipe. Before anything is printed.
int process_print_by_line(void);

/// A descriptor of a process, which becomes readable when the process has ended. Closed by an exec.
int process_open_pidfd(pid_t pid);

/// Sends a signal to the process of a pidfd, and never to another one that got its pid.
int process_signal_pidfd(int pidfd, int signal);

/// ioctl(FICLONE): makes `destination` share the blocks of `source`, where the file system can.
int process_clone_file(int destination, int source);

/// pipe2(O_CLOEXEC). descriptors[0] is the end to read.
int process_pipe(int descriptors[2]);

/// posix_spawn_file_actions_addclosefrom_np(actions, 3): of what this process has open the child has its three standard
/// descriptors alone. Sockets of libraries are not closed by an exec, and a child that has one keeps its connection alive.
/// 0, or an errno.
int process_close_others(posix_spawn_file_actions_t *actions);

/// posix_spawn with a session of its own, no blocked and no ignored signal, `directory` as its working directory, the
/// three descriptors as 0, 1 and 2, and no other. 0, or the errno of what failed: nothing runs then.
int process_spawn(
    pid_t *pid, const char *path, char *const arguments[], char *const environment[], const char *directory,
    int standard_input, int standard_output, int standard_error);
