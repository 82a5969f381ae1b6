// SPDX-License-Identifier: Apache-2.0

#include <sys/stat.h>

#include "CPlatform.h"

static int given(int result, const struct stat *found, file_status *status) {
  if (result != 0) return result;
  *status = (file_status){
      .device = found->st_dev,
      .inode = found->st_ino,
      .mode = found->st_mode,
      .owner = found->st_uid,
      .size = found->st_size,
      .seconds = found->st_mtim.tv_sec,
      .nanoseconds = found->st_mtim.tv_nsec,
  };
  return 0;
}

int file_status_at_path(const char *path, file_status *status) {
  struct stat found;
  return given(stat(path, &found), &found, status);
}

int file_status_of_link(const char *path, file_status *status) {
  struct stat found;
  return given(lstat(path, &found), &found, status);
}

int file_status_of_descriptor(int descriptor, file_status *status) {
  struct stat found;
  return given(fstat(descriptor, &found), &found, status);
}
