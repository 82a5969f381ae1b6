// SPDX-License-Identifier: Apache-2.0

#pragma once

// Debian has a folder for it. pkg-config knows that folder, but would also link the library, see CLazyPostgres.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif
#include <sys/eventfd.h>
