package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The gRPC listener.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535; of no meaning with a Unix socket
 * @param unixSocket listened on instead of TCP when present
 * @param tls absent for plaintext
 * @param maxConnectionAge a connection older than this is asked to go; zero for never
 * @param maxConnectionAgeGrace what a connection that was asked to go has for its calls; zero for
 *     as long as they take
 * @param keepAliveTime silence after which the server pings
 * @param keepAliveTimeout silence after a ping that ends the connection
 * @param permitKeepAliveTime a client that pings more often than this is disconnected
 * @param maxMessageBytes longest request message
 * @param maxDescriptors most descriptors of one request
 * @param maxConcurrentCallsPerConnection most calls in progress on one connection
 * @param eventLoops I/O threads; 0 for one per core
 * @param drainTimeout what calls in progress have to end at shutdown
 * @param drainDelay time between unhealthy and refusing, at shutdown
 */
public record GrpcConfig(
    String host,
    int port,
    @Nullable Path unixSocket,
    @Nullable TlsConfig tls,
    Duration maxConnectionAge,
    Duration maxConnectionAgeGrace,
    Duration keepAliveTime,
    Duration keepAliveTimeout,
    Duration permitKeepAliveTime,
    int maxMessageBytes,
    int maxDescriptors,
    int maxConcurrentCallsPerConnection,
    int eventLoops,
    Duration drainTimeout,
    Duration drainDelay) {

  /** What is in force when nothing is configured. */
  public static GrpcConfig defaults() {
    return new GrpcConfig(
        "0.0.0.0",
        8081,
        null,
        null,
        Duration.ZERO,
        Duration.ZERO,
        Duration.ofMinutes(5),
        Duration.ofSeconds(20),
        Duration.ofSeconds(10),
        256 * 1024,
        1_000,
        1_000,
        0,
        Duration.ofSeconds(10),
        Duration.ZERO);
  }
}
