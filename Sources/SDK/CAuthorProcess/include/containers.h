// SPDX-License-Identifier: Apache-2.0

#pragma once

// The sandbox of a device: a process finds no file of another product's container. containers.c replaces the functions
// of the C library that Foundation, SQLite and C code open files with. It is a rule for authors, and no defence: a system
// call, a relative path and a symbolic link are not seen.

/// From now on open, fopen, opendir, stat, access, mkdir, rename and unlink fail with EPERM for a path below `all` that is
/// not below `own`. Both are absolute and without a slash at the end, and `own` is below `all`; NULL ends it. `refused` is
/// called with each such path, on the thread of the call.
void containers_limit(const char *all, const char *own, void (*refused)(const char *path));
