#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int process_set_parent_death_signal(int signal) {
  if (syscall(SYS_gettid) != getpid()) {
    errno = EDEADLK;
    return -1;
  }
  return prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0);
}

int process_set_name(const char *name) { return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0); }

int process_print_by_line(void) { return setvbuf(stdout, NULL, _IOLBF, 0); }

int process_open_pidfd(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int process_signal_pidfd(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, (void *)0, 0);
}

int process_clone_file(int destination, int source) { return ioctl(destination, FICLONE, source); }

int process_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC); }

int process_close_others(posix_spawn_file_actions_t *actions) {
  return posix_spawn_file_actions_addclosefrom_np(actions, 3);
}

static int prepare(
    posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions, const char *directory, int standard_input,
    int standard_output, int standard_error) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
  if (!error) {
    error = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  if (!error) error = posix_spawn_file_actions_adddup2(actions, standard_input, 0);
  if (!error) error = posix_spawn_file_actions_adddup2(actions, standard_output, 1);
  if (!error) error = posix_spawn_file_actions_adddup2(actions, standard_error, 2);
  if (!error) error = process_close_others(actions);
  if (!error) error = posix_spawn_file_actions_addchdir_np(actions, directory);
  return error;
}

int process_spawn(
    pid_t *pid, const char *path, char *const arguments[], char *const environment[], const char *directory,
    int standard_input, int standard_output, int standard_error) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int error = posix_spawnattr_init(&attributes);
  if (error) return error;
  error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    error = prepare(&attributes, &actions, directory, standard_input, standard_output, standard_error);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawnattr_destroy(&attributes);
  return error;
}
