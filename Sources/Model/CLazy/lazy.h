// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stddef.h>

// How the files of this target find the functions of a library. It is loaded when the first of them is needed, and then
// stays loaded.

/// A function of a library, and the place of its address.
struct lazy_symbol {
    const char *name;
    void *place;
};

/// Why a library cannot be used. The empty text: it can, or was not loaded yet.
typedef char lazy_problem[512];

/// Loads a library and finds its functions. Returns 0 and sets the problem when it, or one of them, is missing.
__attribute__((visibility("hidden"))) int lazy_open(
    const char *soname, const struct lazy_symbol *symbols, size_t count, lazy_problem problem);

/// Sets a problem. NULL is one without a reason.
__attribute__((visibility("hidden"))) void lazy_fail(lazy_problem problem, const char *reason);

/// An array and the number of its elements, as two arguments.
#define LAZY_LIST(array) (array), sizeof(array) / sizeof *(array)
