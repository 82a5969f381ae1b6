#pragma once

#include <pthread.h>
#include <sys/eventfd.h>
#include <zmq.h>

// glibc shows this with _GNU_SOURCE only, which a module map cannot ask for.
int pthread_setname_np(pthread_t thread, const char *name);
