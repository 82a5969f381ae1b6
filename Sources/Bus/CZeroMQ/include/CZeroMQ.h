// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <zmq.h>

// glibc declares this with _GNU_SOURCE only, which a module map cannot define.
int pthread_setname_np(pthread_t thread, const char *name);
