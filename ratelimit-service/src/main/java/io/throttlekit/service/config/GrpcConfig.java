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
 * @param connectionAge when connections are asked to go
 * @param keepAlive how silent connections are told from dead ones
 * @param limits what one client may ask for
 * @param eventLoops I/O threads; 0 for one per core
 * @param drain how it stops
 * @param reflection whether clients may ask which services and messages there are
 */
public record GrpcConfig(
    String host,
    int port,
    @Nullable Path unixSocket,
    @Nullable TlsConfig tls,
    ConnectionAge connectionAge,
    KeepAlive keepAlive,
    Limits limits,
    int eventLoops,
    Drain drain,
    boolean reflection) {

  private static final int CONNECTIONS = 10_000;

  /**
   * An Envoy resets each call that takes longer than its timeout: all of them while a store hangs.
   */
  private static final int RESETS_PER_SECOND = 10_000;

  /**
   * When connections are asked to go.
   *
   * @param most a connection older than this (a tenth more or less, 1 s if less) is asked to go;
   *     zero for never
   * @param grace what it then has for its calls; zero for as long as they take
   * @param idle a connection without calls for this long is asked to go; zero for never
   */
  public record ConnectionAge(Duration most, Duration grace, Duration idle) {

    /** Connections that are never asked to go. */
    public static ConnectionAge unlimited() {
      return new ConnectionAge(Duration.ZERO, Duration.ZERO, Duration.ZERO);
    }
  }

  /**
   * How silent connections are told from dead ones.
   *
   * @param time silence after which the server pings, 10 s if less
   * @param timeout silence after a ping that ends the connection
   * @param permitted a client that pings more often than this is disconnected
   */
  public record KeepAlive(Duration time, Duration timeout, Duration permitted) {}

  /**
   * What one client may ask for.
   *
   * @param messageBytes longest request message
   * @param descriptors most descriptors of one request
   * @param entryBytes longest key and longest value of an entry
   * @param callsPerConnection most calls in progress on one connection
   * @param connections most that are open; further ones are closed at once
   * @param resetsPerSecond most calls of one connection that its client may reset in a second; what
   *     resets more is disconnected
   */
  public record Limits(
      int messageBytes,
      int descriptors,
      int entryBytes,
      int callsPerConnection,
      int connections,
      int resetsPerSecond) {

    /** Limits of requests; connections and resets are bounded as by default. */
    public Limits(int messageBytes, int descriptors, int entryBytes, int callsPerConnection) {
      this(
          messageBytes,
          descriptors,
          entryBytes,
          callsPerConnection,
          CONNECTIONS,
          RESETS_PER_SECOND);
    }
  }

  /**
   * How the listener stops.
   *
   * @param delay time between unhealthy and refusing
   * @param timeout what calls in progress have to end
   */
  public record Drain(Duration delay, Duration timeout) {}

  /**
   * The listener for sensors: what it does not say itself is as here. One event loop of its own
   * serves it, so that what comes there does not keep decisions waiting.
   */
  public GrpcConfig forSensors(SensorsConfig sensors) {
    return new GrpcConfig(
        sensors.host(),
        sensors.port(),
        null,
        sensors.tls(),
        connectionAge,
        keepAlive,
        new Limits(
            limits.messageBytes(),
            limits.descriptors(),
            limits.entryBytes(),
            sensors.streamsPerConnection()),
        1,
        new Drain(Duration.ZERO, drain.timeout()),
        false);
  }

  /** What is in force when nothing is configured. */
  public static GrpcConfig defaults() {
    return new GrpcConfig(
        "0.0.0.0",
        8081,
        null,
        null,
        new ConnectionAge(Duration.ZERO, Duration.ZERO, Duration.ofMinutes(15)),
        new KeepAlive(Duration.ofMinutes(5), Duration.ofSeconds(20), Duration.ofSeconds(10)),
        new Limits(256 * 1024, 1_000, 64 * 1024, 1_000),
        0,
        new Drain(Duration.ZERO, Duration.ofSeconds(10)),
        false);
  }
}
