// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <zmq.h>

// libzmq is loaded by the first call, and not by the dynamic linker when the process starts: libzmq and the twelve
// libraries that it needs take a millisecond, which a widget extension spends on the thread of its connection, and not
// before its author's first line. Each function that Swift calls has another symbol here, which `zeromq.c` defines. When
// libzmq cannot be loaded, the first call prints the reason and ends the process with code 127, as the dynamic linker
// does.
#define ZEROMQ_FUNCTIONS(FUNCTION) \
    FUNCTION(int, zmq_bind, (void *socket, const char *endpoint), (socket, endpoint)) \
    FUNCTION(int, zmq_close, (void *socket), (socket)) \
    FUNCTION(int, zmq_connect, (void *socket, const char *endpoint), (socket, endpoint)) \
    FUNCTION(void *, zmq_ctx_new, (void), ()) \
    FUNCTION(int, zmq_ctx_set, (void *context, int option, int value), (context, option, value)) \
    FUNCTION(int, zmq_ctx_term, (void *context), (context)) \
    FUNCTION(int, zmq_curve_keypair, (char *public_key, char *secret_key), (public_key, secret_key)) \
    FUNCTION(int, zmq_curve_public, (char *public_key, const char *secret_key), (public_key, secret_key)) \
    FUNCTION(int, zmq_errno, (void), ()) \
    FUNCTION(int, zmq_getsockopt, (void *socket, int option, void *value, size_t *size), \
        (socket, option, value, size)) \
    FUNCTION(int, zmq_msg_close, (zmq_msg_t *message), (message)) \
    FUNCTION(void *, zmq_msg_data, (zmq_msg_t *message), (message)) \
    FUNCTION(int, zmq_msg_get, (const zmq_msg_t *message, int property), (message, property)) \
    FUNCTION(const char *, zmq_msg_gets, (const zmq_msg_t *message, const char *property), (message, property)) \
    FUNCTION(int, zmq_msg_init, (zmq_msg_t *message), (message)) \
    FUNCTION(int, zmq_msg_more, (const zmq_msg_t *message), (message)) \
    FUNCTION(int, zmq_msg_recv, (zmq_msg_t *message, void *socket, int flags), (message, socket, flags)) \
    FUNCTION(int, zmq_msg_send, (zmq_msg_t *message, void *socket, int flags), (message, socket, flags)) \
    FUNCTION(size_t, zmq_msg_size, (const zmq_msg_t *message), (message)) \
    FUNCTION(int, zmq_send, (void *socket, const void *bytes, size_t size, int flags), (socket, bytes, size, flags)) \
    FUNCTION(int, zmq_setsockopt, (void *socket, int option, const void *value, size_t size), \
        (socket, option, value, size)) \
    FUNCTION(void *, zmq_socket, (void *context, int type), (context, type)) \
    FUNCTION(int, zmq_socket_monitor, (void *socket, const char *endpoint, int events), (socket, endpoint, events)) \
    FUNCTION(const char *, zmq_strerror, (int code), (code)) \
    FUNCTION(int, zmq_unbind, (void *socket, const char *endpoint), (socket, endpoint)) \
    FUNCTION(char *, zmq_z85_encode, (char *text, const uint8_t *bytes, size_t size), (text, bytes, size))

#define ZEROMQ_DECLARATION(result, name, parameters, arguments) \
    result name parameters __asm__("lazy_" #name);
ZEROMQ_FUNCTIONS(ZEROMQ_DECLARATION)
#undef ZEROMQ_DECLARATION

// glibc declares this with _GNU_SOURCE only, which a module map cannot define.
int pthread_setname_np(pthread_t thread, const char *name);
