package io.throttlekit.service.config;

import io.throttlekit.service.identity.Identity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Settings of the section {@code sensors}, in the order in which they are printed. */
final class SensorsSettings {
  private static final SensorsConfig DEFAULTS = SensorsConfig.defaults();

  static final Setting<String> LISTEN =
      new Setting<>(
          "sensors.listen", Forms.listenAddress(), DEFAULTS.host() + ":" + DEFAULTS.port());
  static final Setting<String> TLS_CERTIFICATE =
      new Setting<>("sensors.tls.certificate", Forms.optionalPath(), "");
  static final Setting<String> TLS_KEY = new Setting<>("sensors.tls.key", Forms.optionalPath(), "");
  static final Setting<String> TLS_CLIENT_CA =
      new Setting<>("sensors.tls.client_ca", Forms.optionalPath(), "");
  static final Setting<List<Identity>> IDENTITIES =
      new Setting<>("sensors.identities", identities(), List.of());
  static final Setting<Boolean> BIND_NODE_ID =
      new Setting<>("sensors.bind_node_id", Forms.flag(), DEFAULTS.bindsNodeId());
  static final Setting<Integer> MAX_STREAMS =
      new Setting<>("sensors.max_streams", Forms.count(1, 1_000_000), DEFAULTS.maxStreams());
  static final Setting<Integer> MAX_STREAMS_PER_CONNECTION =
      new Setting<>(
          "sensors.max_streams_per_connection",
          Forms.count(1, 100_000),
          DEFAULTS.streamsPerConnection());

  static final List<Setting<?>> ALL =
      List.of(
          LISTEN,
          TLS_CERTIFICATE,
          TLS_KEY,
          TLS_CLIENT_CA,
          IDENTITIES,
          BIND_NODE_ID,
          MAX_STREAMS,
          MAX_STREAMS_PER_CONNECTION);

  private SensorsSettings() {}

  static SensorsConfig assemble(SettingValues values) {
    String address = values.get(LISTEN);
    int colon = address.lastIndexOf(':');
    String host = address.substring(0, colon);
    for (Setting<?> needy : List.of(IDENTITIES, BIND_NODE_ID)) {
      if (!values.get(needy).equals(needy.fallback()) && values.get(TLS_CLIENT_CA).isEmpty()) {
        values.error(values.origin(needy), needy + " needs " + TLS_CLIENT_CA);
      }
    }
    return new SensorsConfig(
        host.isEmpty() ? "0.0.0.0" : host,
        Integer.parseInt(address.substring(colon + 1)),
        tls(values),
        values.get(IDENTITIES),
        values.get(BIND_NODE_ID),
        values.get(MAX_STREAMS),
        values.get(MAX_STREAMS_PER_CONNECTION));
  }

  private static @Nullable TlsConfig tls(SettingValues values) {
    values.needs(TLS_CERTIFICATE, TLS_KEY);
    values.needs(TLS_KEY, TLS_CERTIFICATE);
    values.needs(TLS_CLIENT_CA, TLS_CERTIFICATE);
    String certificate = values.get(TLS_CERTIFICATE);
    String key = values.get(TLS_KEY);
    String clientCa = values.get(TLS_CLIENT_CA);
    return certificate.isEmpty() || key.isEmpty()
        ? null
        : new TlsConfig(
            Path.of(certificate),
            Path.of(key),
            clientCa.isEmpty() ? null : Path.of(clientCa),
            null);
  }

  private static Form<List<Identity>> identities() {
    return new Form<>(
        "a list of identities, each " + Identity.EXPECTED,
        List.of(),
        true,
        SensorsSettings::parse,
        identities ->
            identities.stream()
                .map(identity -> Forms.alwaysQuoted(identity.pattern()))
                .collect(Collectors.joining(", ", "[", "]")));
  }

  private static @Nullable List<Identity> parse(List<String> texts) {
    List<Identity> identities = new ArrayList<>(texts.size());
    for (String text : texts) {
      Identity identity = Identity.parse(text.strip());
      if (identity == null) {
        return null;
      }
      identities.add(identity);
    }
    return identities;
  }
}
