# A hub in a container: docs/team-server.md, "In containers". Everything that it writes is in /srv/ctxhub/var.
FROM debian:trixie-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates postgresql-client python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

# Code and packages belong to root; the hub's user writes into these two folders alone.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin ctxhub \
    && install --directory --owner=ctxhub --group=ctxhub --mode=700 /srv/ctxhub/var /var/backups/ctxhub

WORKDIR /srv/ctxhub
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1

# Some of otel, semantic and tokens, separated by commas: docker build --build-arg EXTRAS=otel
ARG EXTRAS=
COPY pyproject.toml constraints.txt ./
RUN python3 -m venv /opt/venv \
    && pip install --quiet --no-cache-dir --constraint constraints.txt ".${EXTRAS:+[$EXTRAS]}" \
    && pip uninstall --quiet --yes pip \
    && rm -r build ctxhub.egg-info

COPY . .
RUN python -m compileall -q .

USER ctxhub
VOLUME /srv/ctxhub/var
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/readyz', timeout=4)"]
ENTRYPOINT ["python", "manage.py"]
CMD ["serve", "--host", "0.0.0.0"]
