package io.throttlekit.service.config.load;

import io.throttlekit.envoy.filter.FilterSettings;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ConcurrencyConfig;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.config.PolicyConfig;
import io.throttlekit.service.config.PolicyConfig.RuntimeFolder;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;
import io.throttlekit.service.config.SensorsConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.ServiceConfig.HealthConfig;
import io.throttlekit.service.config.ServiceConfig.WarmUpConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.TlsConfig;
import io.throttlekit.service.config.XdsConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the typed configuration from the values of settings, and reports values that contradict
 * each other or have no effect.
 */
final class Assembly {
  private final SettingValues values;

  private Assembly(SettingValues values) {
    this.values = values;
  }

  /** Returns the typed configuration. It is meaningless when there are errors. */
  static ServiceConfig of(SettingValues values) {
    Assembly assembly = new Assembly(values);
    assembly.warnOfPort();
    assembly.warnOfStoreHealth();
    ServiceConfig config = assembly.service();
    assembly.checkNeeds();
    return config;
  }

  /** Returns whether policies are read where envoyproxy/ratelimit reads them. */
  static boolean standsIn(SettingValues values) {
    return !values.differs("policies.paths") && values.differs("policies.runtime.root");
  }

  /** Returns whether policies come from a control plane. */
  static boolean overXds(SettingValues values) {
    return !values.differs("policies.paths") && values.differs("policies.xds.server");
  }

  /** Returns whether counters are in the memory of this process. */
  static boolean inMemory(SettingValues values) {
    return values.uri("store.uri").address().inMemory();
  }

  private ServiceConfig service() {
    return new ServiceConfig(
        policies(),
        grpc(),
        http(),
        new DebugConfig(values.text("debug.host"), values.count("debug.port")),
        metrics(),
        StoreAssembly.of(values),
        federation(),
        concurrency(),
        sensors(),
        response(),
        new CompatibilityConfig(
            values.flag("compatibility.charge_rejected"),
            values.flag("compatibility.shadow_mode"),
            values.flag("compatibility.quota_mode")),
        TelemetryAssembly.of(values),
        new HealthConfig(
            values.flag("health.store_must_be_reachable"),
            values.flag("health.needs_policies"),
            values.flag("health.ready_without_policies")),
        new WarmUpConfig(values.count("warm_up.requests")),
        extAuthz());
  }

  private PolicyConfig policies() {
    Path root = values.path("policies.runtime.root");
    XdsConfig xds = XdsSettings.read(values);
    boolean paths = values.differs("policies.paths") || values.malformed("policies.paths");
    if (root == null && xds == null && !paths && !values.malformed("policies.xds.server")) {
      values.error(
          Origin.option("--policies"),
          "no policies: give --policies PATH, policies.paths in the configuration file, or the"
              + " variable RUNTIME_ROOT");
    }
    return new PolicyConfig(
        values.list("policies.paths"),
        root == null
            ? null
            : new RuntimeFolder(
                root,
                values.text("policies.runtime.subdirectory"),
                values.text("policies.runtime.app_directory"),
                values.flag("policies.runtime.watch_root"),
                values.flag("policies.runtime.ignore_dot_files")),
        xds,
        values.flag("policies.merge_domains"),
        values.duration("policies.poll_interval"),
        values.flag("policies.require_at_start"),
        values.path("policies.last_good_folder"));
  }

  private GrpcConfig grpc() {
    return new GrpcConfig(
        values.text("grpc.host"),
        values.count("grpc.port"),
        values.path("grpc.unix_socket"),
        tls("grpc.tls", values.text("grpc.tls.client_san")),
        new GrpcConfig.ConnectionAge(
            values.duration("grpc.max_connection_age"),
            values.duration("grpc.max_connection_age_grace"),
            values.duration("grpc.max_connection_idle")),
        new GrpcConfig.KeepAlive(
            values.duration("grpc.keep_alive_time"),
            values.duration("grpc.keep_alive_timeout"),
            values.duration("grpc.permit_keep_alive_time")),
        new GrpcConfig.Limits(
            values.count("grpc.max_message_bytes"),
            values.count("grpc.max_descriptors"),
            values.count("grpc.max_entry_bytes"),
            values.count("grpc.max_header_bytes"),
            values.count("grpc.max_concurrent_calls_per_connection"),
            values.count("grpc.max_connections"),
            values.count("grpc.max_resets_per_second"),
            values.count("grpc.max_control_frames_per_second")),
        values.count("grpc.event_loops"),
        new GrpcConfig.Drain(
            values.duration("grpc.drain_delay"), values.duration("grpc.drain_timeout")),
        values.flag("grpc.reflection"));
  }

  /** Returns the certificate of a listener; null for plaintext. */
  private @Nullable TlsConfig tls(String section, String clientSan) {
    Path certificate = values.path(section + ".certificate");
    Path key = values.path(section + ".key");
    return certificate == null || key == null
        ? null
        : new TlsConfig(
            certificate,
            key,
            values.path(section + ".client_ca"),
            clientSan.isEmpty() ? null : clientSan);
  }

  /**
   * Returns the HTTP listener. It does not check client certificates, so {@code /json} is off where
   * gRPC requires them.
   */
  private HttpConfig http() {
    boolean clientsAreChecked = values.differs("grpc.tls.client_ca");
    boolean json = values.flag("http.json");
    if (json && clientsAreChecked) {
      values.warnOfNoEffect(
          "http.json",
          "/json does not check client certificates, which gRPC requires (grpc.tls.client_ca)");
    }
    return new HttpConfig(
        values.text("http.host"),
        values.count("http.port"),
        json && !clientsAreChecked,
        values.flag("http.json_refunds"),
        values.count("http.max_connections"));
  }

  /** Returns the separate listener for metrics, or null. */
  private @Nullable MetricsConfig metrics() {
    String address = values.text("metrics.address");
    if (!values.flag("telemetry.prometheus")) {
      for (String setting : List.of("metrics.address", "metrics.path", "metrics.mappings")) {
        values.warnIfSet(setting, "telemetry.prometheus is false");
      }
    }
    return address.isEmpty() || !values.flag("telemetry.prometheus")
        ? null
        : new MetricsConfig(
            Form.hostOf(address), Form.portOf(address), values.text("metrics.path"));
  }

  /**
   * Returns the federation, or null when there is none; reports a region without coordinator, and
   * the reverse.
   */
  private @Nullable FederationConfig federation() {
    String region = values.text("federation.region");
    boolean coordinated = values.differs("federation.coordinator");
    StoreUri uri = coordinated ? values.uri("federation.coordinator") : StoreUri.memory();
    StoreAccess access = StoreAssembly.access(values, "federation", uri);
    if (coordinated && !region.isEmpty()) {
      return new FederationConfig(
          region,
          uri.address(),
          access,
          values.text("federation.key_prefix"),
          values.duration("federation.deadline"),
          values.duration("federation.probe_after"),
          values.count("federation.regional_leases"));
    }
    if (coordinated && !values.malformed("federation.region")) {
      values.error(
          values.origin("federation.coordinator"),
          "a coordinator needs the name of the region: --region or federation.region");
    } else if (!region.isEmpty() && !values.malformed("federation.coordinator")) {
      values.error(
          values.origin("federation.region"),
          "a region needs a coordinator to share limits with others: --coordinator or"
              + " federation.coordinator");
    }
    return null;
  }

  private ConcurrencyConfig concurrency() {
    return new ConcurrencyConfig(
        values.flag("concurrency.access_log"),
        values.count("concurrency.max_samples_per_second"),
        values.flag("concurrency.load_reports"),
        values.duration("concurrency.load_report_interval"),
        values.duration("concurrency.envoy_hold"),
        values.count("concurrency.max_envoys"),
        values.text("concurrency.node_id"));
  }

  private SensorsConfig sensors() {
    return new SensorsConfig(
        Form.hostOf(values.text("sensors.listen")),
        Form.portOf(values.text("sensors.listen")),
        tls("sensors.tls", ""),
        values.list("sensors.identities"),
        values.flag("sensors.bind_node_id"),
        values.count("sensors.max_streams"),
        values.count("sensors.max_streams_per_connection"),
        values.flag("sensors.filter.enabled")
            ? new FilterSettings(
                values.text("sensors.filter.cluster"),
                values.duration("sensors.filter.timeout"),
                values.flag("sensors.filter.failure_mode_deny"))
            : null);
  }

  private ResponseConfig response() {
    return new ResponseConfig(
        new RateLimitHeaders(
            values.flag("response.headers.enabled"),
            values.text("response.headers.limit"),
            values.text("response.headers.remaining"),
            values.text("response.headers.reset")),
        values.flag("response.retry_after"),
        values.flag("response.structured_headers"),
        new DeniedBody(
            values.text("response.denied_body.content_type"),
            values.text("response.denied_body.text")),
        values.flag("response.dynamic_metadata"));
  }

  /** Returns the configuration of external authorization; null without descriptors. */
  private @Nullable ExtAuthzConfig extAuthz() {
    String descriptors = "ext_authz.descriptors";
    if (!values.differs(descriptors)) {
      values.warnIfSet("ext_authz.domain", "there are no " + descriptors);
      values.warnIfSet("ext_authz.undescribed", "there are no " + descriptors);
      return null;
    }
    boolean admits =
        values.text("ext_authz.undescribed").equals("allow")
            || values.flag("compatibility.shadow_mode");
    return new ExtAuthzConfig(values.text("ext_authz.domain"), values.list(descriptors), admits);
  }

  /** Reports settings without those that they require. */
  private void checkNeeds() {
    for (Setting setting : Settings.ALL) {
      String needed = setting.attribute("needs");
      if (!needed.isEmpty()) {
        values.needs(setting.path(), needed);
      }
    }
  }

  /** Warns of a port that a Unix socket replaces. */
  private void warnOfPort() {
    String port = "grpc.port";
    String socket = "grpc.unix_socket";
    boolean set =
        values.origin(port).source() == Origin.Source.COMMAND_LINE || values.differs(port);
    if (set && values.differs(socket)) {
      values.warnOfNoEffect(
          port,
          "gRPC is on the Unix socket %s, %s"
              .formatted(values.print(socket), values.origin(socket)));
    }
  }

  /** Warns of a health that depends on a store which is always reachable. */
  private void warnOfStoreHealth() {
    String health = "health.store_must_be_reachable";
    // envoyproxy/ratelimit's variable has a warning of its own.
    Origin peer = Origin.variable("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION");
    if (inMemory(values) && values.flag(health) && !values.origin(health).equals(peer)) {
      values.warnOfNoEffect(health, "counters are in memory, which is always reachable");
    }
  }
}
