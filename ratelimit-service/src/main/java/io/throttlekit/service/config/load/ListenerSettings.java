package io.throttlekit.service.config.load;

import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.config.TlsConfig;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Settings of the sections {@code grpc}, {@code http}, {@code debug} and {@code metrics}. */
final class ListenerSettings extends Section {
  private static final GrpcConfig GRPC = GrpcConfig.defaults();
  private static final HttpConfig HTTP = HttpConfig.defaults();
  private static final DebugConfig DEBUG = DebugConfig.defaults();
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration YEAR = Duration.ofDays(365);

  final Setting<String> grpcHost = setting("grpc.host", Forms.host(), GRPC.host());
  final Setting<Integer> grpcPort = setting("grpc.port", Forms.port(), GRPC.port());
  final Setting<String> unixSocket = file("grpc.unix_socket");
  final ServerTlsSettings tls = part(new ServerTlsSettings("grpc"));
  final Setting<String> tlsClientSan = setting("grpc.tls.client_san", Forms.headerValue(), "");
  final Setting<Duration> maxConnectionAge =
      duration("grpc.max_connection_age", Duration.ZERO, YEAR, GRPC.connectionAge().most());
  final Setting<Duration> maxConnectionAgeGrace =
      duration("grpc.max_connection_age_grace", Duration.ZERO, YEAR, GRPC.connectionAge().grace());
  private final Setting<Duration> maxConnectionIdle =
      duration("grpc.max_connection_idle", Duration.ZERO, YEAR, GRPC.connectionAge().idle());
  private final Setting<Duration> keepAliveTime =
      duration("grpc.keep_alive_time", Duration.ofSeconds(1), DAY, GRPC.keepAlive().time());
  private final Setting<Duration> keepAliveTimeout =
      duration("grpc.keep_alive_timeout", Duration.ofMillis(100), DAY, GRPC.keepAlive().timeout());
  private final Setting<Duration> permitKeepAliveTime =
      duration("grpc.permit_keep_alive_time", Duration.ZERO, DAY, GRPC.keepAlive().permitted());
  private final Setting<Integer> maxMessageBytes =
      count("grpc.max_message_bytes", 1_024, 64 << 20, GRPC.limits().messageBytes());
  private final Setting<Integer> maxDescriptors =
      count("grpc.max_descriptors", 1, 100_000, GRPC.limits().descriptors());
  private final Setting<Integer> maxEntryBytes =
      count("grpc.max_entry_bytes", 64, 64 << 20, GRPC.limits().entryBytes());
  private final Setting<Integer> maxConcurrentCalls =
      count(
          "grpc.max_concurrent_calls_per_connection",
          1,
          1_000_000,
          GRPC.limits().callsPerConnection());
  private final Setting<Integer> maxConnections =
      count("grpc.max_connections", 1, 1_000_000, GRPC.limits().connections());
  private final Setting<Integer> maxResets =
      count("grpc.max_resets_per_second", 1, 1_000_000, GRPC.limits().resetsPerSecond());
  private final Setting<Integer> eventLoops =
      count("grpc.event_loops", 0, 1_024, GRPC.eventLoops());
  private final Setting<Duration> drainTimeout =
      duration("grpc.drain_timeout", Duration.ZERO, HOUR, GRPC.drain().timeout());
  private final Setting<Duration> drainDelay =
      duration("grpc.drain_delay", Duration.ZERO, HOUR, GRPC.drain().delay());
  private final Setting<Boolean> reflection = flag("grpc.reflection", GRPC.reflection());

  final Setting<String> httpHost = setting("http.host", Forms.host(), HTTP.host());
  final Setting<Integer> httpPort = setting("http.port", Forms.port(), HTTP.port());
  final Setting<Boolean> httpJson = flag("http.json", HTTP.json());
  private final Setting<Boolean> httpJsonRefunds = flag("http.json_refunds", HTTP.jsonRefunds());
  private final Setting<Integer> httpMaxConnections =
      count("http.max_connections", 16, 65_536, HTTP.maxConnections());

  final Setting<String> debugHost = setting("debug.host", Forms.host(), DEBUG.host());
  final Setting<Integer> debugPort = setting("debug.port", Forms.port(), DEBUG.port());

  final Setting<Optional<String>> metricsAddress =
      setting("metrics.address", Forms.optional(Forms.address()), Optional.empty());
  final Setting<String> metricsPath = setting("metrics.path", Forms.urlPath(), "/metrics");

  GrpcConfig grpc(SettingValues values) {
    TlsConfig certificate = tls.assemble(values, values.get(tlsClientSan));
    values.needs(tlsClientSan, tls.clientCa);
    return new GrpcConfig(
        values.get(grpcHost),
        values.get(grpcPort),
        values.path(unixSocket),
        certificate,
        new GrpcConfig.ConnectionAge(
            values.get(maxConnectionAge),
            values.get(maxConnectionAgeGrace),
            values.get(maxConnectionIdle)),
        new GrpcConfig.KeepAlive(
            values.get(keepAliveTime),
            values.get(keepAliveTimeout),
            values.get(permitKeepAliveTime)),
        new GrpcConfig.Limits(
            values.get(maxMessageBytes),
            values.get(maxDescriptors),
            values.get(maxEntryBytes),
            values.get(maxConcurrentCalls),
            values.get(maxConnections),
            values.get(maxResets)),
        values.get(eventLoops),
        new GrpcConfig.Drain(values.get(drainDelay), values.get(drainTimeout)),
        values.get(reflection));
  }

  /**
   * Returns the HTTP listener. It does not check client certificates, so {@code /json} is off where
   * gRPC requires them.
   */
  HttpConfig http(SettingValues values) {
    boolean json = values.get(httpJson);
    if (json && values.differs(tls.clientCa)) {
      values.warnOfNoEffect(
          httpJson,
          "/json does not check client certificates, which gRPC requires (" + tls.clientCa + ")");
      json = false;
    }
    return new HttpConfig(
        values.get(httpHost),
        values.get(httpPort),
        json,
        values.get(httpJsonRefunds),
        values.get(httpMaxConnections));
  }

  DebugConfig debug(SettingValues values) {
    return new DebugConfig(values.get(debugHost), values.get(debugPort));
  }

  /** Returns the separate listener for metrics, or null. */
  @Nullable MetricsConfig metrics(SettingValues values) {
    String address = values.get(metricsAddress).orElse(null);
    return address == null || !values.get(Settings.TELEMETRY.prometheus)
        ? null
        : new MetricsConfig(Forms.hostOf(address), Forms.portOf(address), values.get(metricsPath));
  }

  /** Warns of a port that a Unix socket replaces. */
  void warnOfPort(SettingValues values) {
    boolean set =
        values.origin(grpcPort).source() == Origin.Source.COMMAND_LINE || values.differs(grpcPort);
    if (set && values.differs(unixSocket)) {
      values.warnOfNoEffect(
          grpcPort,
          "gRPC is on the Unix socket %s, %s"
              .formatted(values.print(unixSocket), values.origin(unixSocket)));
    }
  }
}
