// SPDX-License-Identifier: Apache-2.0

#include "lazy.h"

#include <dlfcn.h>
#include <stdio.h>

void lazy_fail(lazy_problem problem, const char *reason) {
    snprintf(problem, sizeof(lazy_problem), "%s", reason ? reason : "no reason given");
}

int lazy_open(const char *soname, const struct lazy_symbol *symbols, size_t count, lazy_problem problem) {
    void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return lazy_fail(problem, dlerror()), 0;
    for (size_t index = 0; index < count; index++) {
        void *symbol = dlsym(handle, symbols[index].name);
        if (!symbol) return lazy_fail(problem, dlerror()), 0;
        *(void **)symbols[index].place = symbol;
    }
    return 1;
}
