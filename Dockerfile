# One image for every process of the project, Spark's master and workers included.
#
# Why not FROM apache/spark: that image brings the Python of its Ubuntu, this code and its lock file ask for 3.11 or
# later, and driver and workers must run the same Python. Here Spark is the pip-installed PySpark of the lock file, which
# holds the master and the worker too, so one pin decides Spark's version everywhere.
# Why bookworm: Debian 12 packages Java 17, which Spark 4 and its Kafka connector support; Debian 13 no longer does.
FROM python:3.12-slim-bookworm

# procps: Spark's scripts call ps.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/* \
    # The package's folder ends in the architecture; a link gives it one name on amd64 and arm64.
    && ln -s /usr/lib/jvm/java-17-openjdk-* /opt/java

ENV JAVA_HOME=/opt/java \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    # Spark starts Python workers elsewhere than in /app; they import `streaming` and `schemas` too.
    PYTHONPATH=/app \
    PYSPARK_PYTHON=/usr/local/bin/python3 \
    SPARK_HOME=/usr/local/lib/python3.12/site-packages/pyspark

WORKDIR /app
COPY requirements/run.lock requirements/run.lock
RUN pip install --no-cache-dir --require-hashes -r requirements/run.lock

# Volumes that are first mounted here inherit the owner.
RUN useradd --uid 10001 --create-home trucks \
    && mkdir -p /data/checkpoints /data/api /app/.cache \
    && chown -R trucks /data /app
USER trucks

# Before the rest of the code: the jars are fetched again only when what names them changes.
COPY --chown=trucks schemas schemas
COPY --chown=trucks local_stack local_stack
RUN python -m local_stack jars

COPY --chown=trucks dashboard_api dashboard_api
COPY --chown=trucks notifier notifier
COPY --chown=trucks simulator simulator
COPY --chown=trucks store store
COPY --chown=trucks streaming streaming
