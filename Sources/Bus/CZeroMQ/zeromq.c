// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE

#include "CZeroMQ.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define POINTER(result, name, parameters, arguments) result (*name) parameters;
static struct {
    ZEROMQ_FUNCTIONS(POINTER)
} library;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fail(void) {
    const char *reason = dlerror();
    // The words of the dynamic linker, which the agent looks for.
    dprintf(
        STDERR_FILENO, "%s: error while loading shared libraries: %s; install ZeroMQ 4.3 (Debian: libzmq5)\n",
        program_invocation_short_name, reason ? reason : "no reason given");
    _exit(127);
}

static void load(void) {
    void *handle = dlopen("libzmq.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) fail();
#define FIND(result, name, parameters, arguments) \
    if (!(*(void **)&library.name = dlsym(handle, #name))) fail();
    ZEROMQ_FUNCTIONS(FIND)
}

#define DEFINITION(result, name, parameters, arguments) \
    result name parameters { \
        pthread_once(&once, load); \
        return library.name arguments; \
    }
ZEROMQ_FUNCTIONS(DEFINITION)
