// SPDX-License-Identifier: Apache-2.0

// What the static library of libzmq refers to and the bus does not use: the transports PGM and NORM, and GSSAPI. Their
// libraries, and those that these need, would otherwise be loaded by each process. A call ends the process: it is a mistake
// of this project, because no endpoint and no option of it leads there. Functions of the same names in shared libraries, such
// as those that libcurl uses, are not affected: these are hidden.

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

static _Noreturn void unused(const char *name) {
    fprintf(stderr, "libzmq called %s, which WidgetLab is linked without\n", name);
    abort();
}

#define UNUSED(name) \
    HIDDEN void name(void) { unused(#name); }

UNUSED(NormCreateInstance)
UNUSED(NormCreateSession)
UNUSED(NormDestroyInstance)
UNUSED(NormDestroySession)
UNUSED(NormGetDescriptor)
UNUSED(NormGetNextEvent)
UNUSED(NormGetRandomSessionId)
UNUSED(NormIsUnicastAddress)
UNUSED(NormNodeDelete)
UNUSED(NormObjectGetType)
UNUSED(NormObjectGetUserData)
UNUSED(NormObjectSetUserData)
UNUSED(NormSetCongestionControl)
UNUSED(NormSetDefaultSyncPolicy)
UNUSED(NormSetDefaultUnicastNack)
UNUSED(NormSetLoopback)
UNUSED(NormSetMulticastInterface)
UNUSED(NormSetRxPortReuse)
UNUSED(NormSetTTL)
UNUSED(NormStartReceiver)
UNUSED(NormStartSender)
UNUSED(NormStopInstance)
UNUSED(NormStopReceiver)
UNUSED(NormStopSender)
UNUSED(NormStreamFlush)
UNUSED(NormStreamOpen)
UNUSED(NormStreamRead)
UNUSED(NormStreamSeekMsgStart)
UNUSED(NormStreamWrite)
UNUSED(gss_accept_sec_context)
UNUSED(gss_acquire_cred)
UNUSED(gss_delete_sec_context)
UNUSED(gss_display_name)
UNUSED(gss_import_name)
UNUSED(gss_init_sec_context)
UNUSED(gss_release_buffer)
UNUSED(gss_release_cred)
UNUSED(gss_release_name)
UNUSED(gss_unwrap)
UNUSED(gss_wrap)
UNUSED(pgm_bind3)
UNUSED(pgm_close)
UNUSED(pgm_connect)
UNUSED(pgm_error_free)
UNUSED(pgm_free)
UNUSED(pgm_freeaddrinfo)
UNUSED(pgm_getaddrinfo)
UNUSED(pgm_getsockopt)
UNUSED(pgm_gsi_create_from_data)
UNUSED(pgm_recvmsgv)
UNUSED(pgm_send)
UNUSED(pgm_setsockopt)
UNUSED(pgm_socket)

HIDDEN const void *const GSS_C_NT_HOSTBASED_SERVICE = NULL;
HIDDEN const void *const GSS_C_NT_USER_NAME = NULL;
HIDDEN const void *const NORM_INSTANCE_INVALID = NULL;
HIDDEN const void *const NORM_OBJECT_INVALID = NULL;
HIDDEN const void *const NORM_SESSION_INVALID = NULL;
HIDDEN const unsigned NORM_NODE_ANY = 0xffffffff;

// The first and the last context of a process call these two. They return whether PGM could be initialised and ended.
HIDDEN int pgm_init(void *error) {
    (void)error;
    return 1;
}
HIDDEN int pgm_shutdown(void) { return 1; }

// Of libbsd, for names of interfaces and paths.
HIDDEN size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = strlen(source);
    if (size) {
        size_t copied = length < size ? length : size - 1;
        memcpy(target, source, copied);
        target[copied] = 0;
    }
    return length;
}
