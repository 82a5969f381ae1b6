// SPDX-License-Identifier: Apache-2.0

// The functions of an executable take precedence over those of its shared libraries, as in device_clock.c.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "containers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct limit {
  char *all, *own;
  void (*refused)(const char *path);
};

static struct limit *_Atomic limit;

void containers_limit(const char *all, const char *own, void (*refused)(const char *path)) {
  struct limit *next = NULL;
  if (all && own && (next = malloc(sizeof *next))) {
    *next = (struct limit){.all = strdup(all), .own = strdup(own), .refused = refused};
  }
  // The former one is kept: another thread may read it.
  limit = next;
}

/// Whether a path is below a folder.
static int is_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/// Whether a path is in another container. Sets errno then.
static int is_refused(const char *path) {
  struct limit *now = limit;
  if (!now || !path || !is_below(path, now->all)) return 0;
  if (is_below(path, now->own) || strcmp(path, now->own) == 0) return 0;
  now->refused(path);
  errno = EPERM;
  return 1;
}

// MARK: Opening

static int open_at(int folder, const char *path, int flags, va_list rest) {
  mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
  return is_refused(path) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int file = open_at(folder, path, flags, rest);
  va_end(rest);
  return file;
}
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int file = open_at(AT_FDCWD, path, flags, rest);
  va_end(rest);
  return file;
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/// The function of this name in the C library.
#define NEXT(name) \
  static _Atomic(__typeof__(&name)) known; \
  __typeof__(&name) next = known; \
  if (!next) known = next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

FILE *fopen(const char *restrict path, const char *restrict mode) {
  NEXT(fopen);
  return is_refused(path) ? NULL : next(path, mode);
}
FILE *fopen64(const char *restrict path, const char *restrict mode) __attribute__((alias("fopen")));

DIR *opendir(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  if (folder < 0) return NULL;
  DIR *opened = fdopendir(folder);
  if (!opened) close(folder);
  return opened;
}

// MARK: Names

int stat(const char *restrict path, struct stat *restrict facts) {
  return is_refused(path) ? -1 : fstatat(AT_FDCWD, path, facts, 0);
}

int lstat(const char *restrict path, struct stat *restrict facts) {
  return is_refused(path) ? -1 : fstatat(AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW);
}

int access(const char *path, int mode) {
  return is_refused(path) ? -1 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

int mkdir(const char *path, mode_t mode) { return is_refused(path) ? -1 : mkdirat(AT_FDCWD, path, mode); }

int rename(const char *from, const char *to) {
  return is_refused(from) || is_refused(to) ? -1 : renameat(AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path) { return is_refused(path) ? -1 : unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return is_refused(path) ? -1 : unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char *path) {
  int result = unlink(path);
  return result != 0 && errno == EISDIR ? rmdir(path) : result;
}

int link(const char *from, const char *to) {
  return is_refused(from) || is_refused(to) ? -1 : linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int symlink(const char *target, const char *path) { return is_refused(path) ? -1 : symlinkat(target, AT_FDCWD, path); }
int truncate(const char *path, off_t length) { return is_refused(path) ? -1 : (int)syscall(SYS_truncate, path, length); }
