// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CPlatform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spawn.h>
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

static int prepare(
    posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions, const char *directory, const int standard[3],
    int new_session) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawnattr_setsigmask(attributes, &none);
  if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
  if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
  if (!error) {
    const int group = new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    error = posix_spawnattr_setflags(attributes, (short)(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  for (int index = 0; !error && index < 3; index++) {
    error = posix_spawn_file_actions_adddup2(actions, standard[index], index);
  }
  // Sockets of libraries may lack close-on-exec, and a child that inherits one keeps the connection open.
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
  if (!error && directory) error = posix_spawn_file_actions_addchdir_np(actions, directory);
  return error;
}

int process_spawn(
    pid_t *pid, const char *path, char *const arguments[], char *const environment[], const char *directory,
    const int standard[3], int new_session) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int error = posix_spawnattr_init(&attributes);
  if (error) return error;
  error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    error = prepare(&attributes, &actions, directory, standard, new_session);
    if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
  }
  posix_spawnattr_destroy(&attributes);
  return error;
}

// MARK: Traps

static const struct {
  int signal;
  const char *name;
} traps[] = {{SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},
             {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"},   {SIGSEGV, "SIGSEGV"}};
enum { trap_count = sizeof traps / sizeof traps[0] };

static uint32_t *trap_word;
static struct sigaction former_actions[trap_count];

static void record_trap(int signal) {
  __atomic_store_n(trap_word, (uint32_t)signal, __ATOMIC_RELEASE);
  for (int index = 0; index < trap_count; index++) {
    if (traps[index].signal == signal) sigaction(signal, &former_actions[index], NULL);
  }
  // Blocked until this returns. A signal that the kernel sent for an instruction comes again by itself.
  raise(signal);
}

void process_record_traps(uint32_t *word) {
  int is_first = trap_word == NULL;
  trap_word = word;
  if (!is_first) return;
  struct sigaction action = {.sa_handler = record_trap, .sa_flags = SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int index = 0; index < trap_count; index++) {
    sigaction(traps[index].signal, &action, &former_actions[index]);
  }
}

const char *process_trap_name(int signal) {
  for (int index = 0; index < trap_count; index++) {
    if (traps[index].signal == signal) return traps[index].name;
  }
  return NULL;
}

void process_prepare_thread_ends(void) { dlopen("libgcc_s.so.1", RTLD_NOW); }
