package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the gRPC listener.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535; ignored with a Unix socket
 * @param unixSocket listened on instead of TCP when present
 * @param tls absent for plaintext
 * @param connectionAge maximum age of connections
 * @param keepAlive detection of dead connections
 * @param limits bounds of one client's use
 * @param eventLoops I/O threads; 0 for one per core
 * @param drain how it stops
 * @param reflection whether clients may list services and messages
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

  // Far above the Envoys of a fleet; bounds the memory of idle connections.
  private static final int CONNECTIONS = 10_000;

  /**
   * Allowed resets per connection. An Envoy resets each call that takes longer than its timeout:
   * all of them while a store hangs.
   */
  private static final int RESETS_PER_SECOND = 10_000;

  /**
   * Longest headers of a call: an Envoy that traces copies what its clients send, such as {@code
   * tracestate}, of at most 60 KiB by default.
   */
  private static final int HEADER_BYTES = 64 << 10;

  /** Allowed frames that belong to no call, beside four for each call: an Envoy sends a few. */
  private static final int FRAMES_PER_SECOND = 1_000;

  /**
   * Maximum age of connections, after which they get a GOAWAY.
   *
   * @param most age at which a connection is closed gracefully (a tenth more or less, 1 s if less);
   *     zero for never
   * @param grace time for its calls to end; zero for unlimited
   * @param idle time without calls after which a connection is closed; zero for never
   */
  public record ConnectionAge(Duration most, Duration grace, Duration idle) {

    /** Returns an age without limits. */
    public static ConnectionAge unlimited() {
      return new ConnectionAge(Duration.ZERO, Duration.ZERO, Duration.ZERO);
    }
  }

  /**
   * Detection of dead connections by pings.
   *
   * @param time time without traffic after which the server pings, 10 s if less
   * @param timeout time without an answer to a ping that ends the connection
   * @param permitted shortest interval of a client's pings; more frequent ones end its connection
   */
  public record KeepAlive(Duration time, Duration timeout, Duration permitted) {}

  /**
   * Bounds of one client's use.
   *
   * @param messageBytes maximum size of a request message
   * @param descriptors maximum number of descriptors of one request
   * @param entryBytes maximum size of a key, and of a value, of an entry
   * @param headerBytes maximum size of the headers of a call, as HTTP/2 counts it
   * @param callsPerConnection maximum number of concurrent calls on one connection
   * @param connections maximum number of open connections; further ones are closed at once
   * @param resetsPerSecond maximum number of calls of one connection that its client may reset in a
   *     second; more end the connection
   * @param framesPerSecond maximum number of frames of one connection in a second that belong to no
   *     call; more end the connection
   */
  public record Limits(
      int messageBytes,
      int descriptors,
      int entryBytes,
      int headerBytes,
      int callsPerConnection,
      int connections,
      int resetsPerSecond,
      int framesPerSecond) {

    /** Creates bounds of messages and calls, with the defaults of the others. */
    public Limits(int messageBytes, int descriptors, int entryBytes, int callsPerConnection) {
      this(
          messageBytes,
          descriptors,
          entryBytes,
          HEADER_BYTES,
          callsPerConnection,
          CONNECTIONS,
          RESETS_PER_SECOND,
          FRAMES_PER_SECOND);
    }
  }

  /**
   * Shutdown of the listener.
   *
   * @param delay time from reporting unhealthy to refusing calls
   * @param timeout time for calls in progress to end
   */
  public record Drain(Duration delay, Duration timeout) {}

  /**
   * Returns the listener for sensors; settings that it does not have itself are as here. It has one
   * event loop of its own, so that its traffic does not delay decisions.
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
            limits.headerBytes(),
            sensors.maxStreamsPerConnection(),
            CONNECTIONS,
            limits.resetsPerSecond(),
            limits.framesPerSecond()),
        1,
        new Drain(Duration.ZERO, drain.timeout()),
        false);
  }
}
