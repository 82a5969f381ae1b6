# SPDX-License-Identifier: Apache-2.0
# PostgreSQL 15 from Debian's package, for deploy/test-stack where no registry has postgres:15. It reads the same three
# variables as that image, and no others.
# It has no compiler for queries, which is half of its size.
ARG RUN_IMAGE=debian:bookworm-slim
FROM ${RUN_IMAGE}
RUN apt-get update -q \
  && apt-get install -y -q --no-install-recommends postgresql-15 \
  && rm -rf /var/lib/apt/lists/* /usr/lib/postgresql/15/lib/bitcode /usr/lib/postgresql/15/lib/llvmjit* /usr/lib/*/libLLVM* /usr/share/doc /usr/share/locale \
  && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
COPY postgres-start /usr/local/bin/
USER postgres
CMD ["postgres-start"]
