// SPDX-License-Identifier: Apache-2.0

// The HTTP server of the transfers that scripts/bench measures. It sends files as fast as the kernel can.
//
// files: serves on a free port of the loopback interface, prints the port in one line, and exits at the end of its
// input.
// GET /<bytes> is answered with this number of bytes; more path components only make the URL different.
// GET /held/<bytes> is answered after a line on standard input: each line releases one such request.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

static const off_t block = 64 << 20;
static int bytes;
static sem_t passes;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static int send_head(int peer, long long length) {
  char head[128];
  int count = snprintf(
      head, sizeof head, "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: %lld\r\n\r\n", length);
  return send(peer, head, count, MSG_MORE | MSG_NOSIGNAL) == count;
}

static int send_body(int peer, long long length) {
  while (length > 0) {
    off_t offset = 0;
    while (offset < block && length > 0) {
      ssize_t sent = sendfile(peer, bytes, &offset, length < block - offset ? (size_t)length : (size_t)(block - offset));
      if (sent <= 0) return 0;
      length -= sent;
    }
  }
  return 1;
}

// Serves one connection until its peer closes it.
static void *converse(void *argument) {
  int peer = (int)(intptr_t)argument, got = 0, one = 1;
  char request[8192];
  setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  for (;;) {
    ssize_t count = recv(peer, request + got, sizeof request - 1 - got, 0);
    if (count <= 0) break;
    got += count;
    request[got] = 0;
    char *end = strstr(request, "\r\n\r\n");
    if (!end) {
      if (got == sizeof request - 1) break;
      continue;
    }
    const int is_held = strncmp(request, "GET /held/", 10) == 0;
    long long length = strncmp(request, "GET /", 5) ? 0 : atoll(request + (is_held ? 10 : 5));
    if (is_held) while (sem_wait(&passes)) continue;
    if (!send_head(peer, length) || !send_body(peer, length)) break;
    got -= end + 4 - request;
    memmove(request, end + 4, got);
  }
  close(peer);
  return NULL;
}

static void *accept_all(void *argument) {
  int listener = (int)(intptr_t)argument;
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&detached, 256 << 10);
  for (;;) {
    int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    pthread_t thread;
    if (peer >= 0 && pthread_create(&thread, &detached, converse, (void *)(intptr_t)peer)) close(peer);
  }
  return NULL;
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  signal(SIGPIPE, SIG_IGN);
  if (sem_init(&passes, 0, 0)) die("sem_init");
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1024)) die("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
  bytes = memfd_create("bytes", MFD_CLOEXEC);
  if (bytes < 0 || ftruncate(bytes, block)) die("memfd_create");
  char *content = mmap(NULL, block, PROT_WRITE, MAP_SHARED, bytes, 0);
  if (content == MAP_FAILED) die("mmap");
  for (off_t index = 0; index < block; index++) content[index] = (char)(index * 31 + (index >> 8));
  pthread_t thread;
  if (pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)listener)) die("pthread_create");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  char character;
  while (read(0, &character, 1) > 0)
    if (character == '\n') sem_post(&passes);
  return 0;
}
