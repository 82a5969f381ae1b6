// SPDX-License-Identifier: Apache-2.0

// A viewer on the tap: receives all envelopes, and prints their number at the end of its standard input. The first line
// of standard input is `ENDPOINT SERVERKEY PUBLIC SECRET`.

#include <unistd.h>

#include "wire.h"

int main(void) {
  char endpoint[256], server[41], public_key[41], secret_key[41], line[512];
  need(fgets(line, sizeof line, stdin) != NULL && sscanf(line, "%255s %40s %40s %40s", endpoint, server, public_key, secret_key) == 4,
       "endpoint and keys on standard input");
  void *context = zmq_ctx_new();
  void *socket = bus_socket(context, ZMQ_SUB);
  be_client(socket, server, public_key, secret_key);
  zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0);
  need(zmq_connect(socket, endpoint) == 0, "zmq_connect");
  unsigned long count = 0;
  zmq_msg_t message;
  zmq_msg_init(&message);
  zmq_pollitem_t items[] = {{socket, 0, ZMQ_POLLIN, 0}, {NULL, STDIN_FILENO, ZMQ_POLLIN, 0}};
  while (zmq_poll(items, 2, -1) >= 0 && items[1].revents == 0)
    while (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) >= 0)
      if (count++ == 0) {
        printf("watching\n");
        fflush(stdout);
      }
  printf("%lu\n", count);
  zmq_msg_close(&message);
  zmq_close(socket);
  zmq_ctx_term(context);
  return 0;
}
