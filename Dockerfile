# The service on a Java runtime of its own: docker build -t throttlekit .
# bin/throttlekit starts the service; deploy/image builds the contents of the image.
# For other base images: --build-arg BASE=…, --build-arg BUILDER=… (Maven and a JDK 25).
ARG BASE=debian:12.12-slim
ARG BUILDER=maven:3.9.11-eclipse-temurin-25

FROM ${BUILDER} AS build
WORKDIR /src
COPY . .
RUN mvn -B -ntp -q -Dmaven.test.skip=true -Dchecks=off -pl ratelimit-service -am package \
    && deploy/image/assemble /image/throttlekit /image/java

FROM ${BASE} AS trained
ENV JAVA_HOME=/opt/java
COPY --from=build /image /opt
RUN /opt/throttlekit/train

FROM ${BASE}
ENV JAVA_HOME=/opt/java LANG=C.UTF-8
COPY --from=trained /opt /opt
# /bin/ratelimit is the command that Envoy Gateway starts; /bin is a link to /usr/bin.
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin throttlekit \
    && ln -s /opt/throttlekit/ratelimit /usr/bin/ratelimit
USER 10001:10001
EXPOSE 8080 8081
# Containers that start at once on a small machine are slow; the first success ends the start period.
HEALTHCHECK --interval=5s --timeout=5s --start-period=3m --retries=3 CMD ["/opt/throttlekit/healthy"]
ENTRYPOINT ["/opt/throttlekit/bin/throttlekit"]
CMD ["serve", "--policies", "/etc/throttlekit/policies"]
