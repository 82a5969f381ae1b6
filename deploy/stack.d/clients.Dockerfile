# SPDX-License-Identifier: Apache-2.0
# For deploy/test-stack: APNs clients that are not ours (aioapns, and curl), and promtool of Prometheus.
ARG RUN_IMAGE=debian:bookworm-slim
FROM ${RUN_IMAGE}
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends ca-certificates curl python3 python3-aioapns \
  && cd /tmp && apt-get download -q prometheus && dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x -C / ./usr/bin/promtool \
  && rm -f /tmp/*.deb \
  && rm -rf /var/lib/apt/lists/*
COPY *.py curl-push /clients/
WORKDIR /clients
