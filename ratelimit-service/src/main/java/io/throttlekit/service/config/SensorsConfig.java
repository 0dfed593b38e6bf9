package io.throttlekit.service.config;

import io.throttlekit.envoy.filter.FilterSettings;
import io.throttlekit.service.identity.Identity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of the listener for sensors: access logs and load reports of Envoys, and their
 * streams for concurrency limits. It is open only while a loaded rule needs it, or Envoys may
 * receive their filters.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 * @param tls absent for plaintext
 * @param identities identities of which a client's certificate must have one; empty for any
 * @param bindNodeId whether a node id must be one that the client's certificate allows
 * @param maxStreams maximum number of streams of all connections together, from 1
 * @param maxStreamsPerConnection maximum number of streams of one connection, from 1
 * @param filter rate limit filters that Envoys may receive; null for none
 */
public record SensorsConfig(
    String host,
    int port,
    @Nullable TlsConfig tls,
    List<Identity> identities,
    boolean bindNodeId,
    int maxStreams,
    int maxStreamsPerConnection,
    @Nullable FilterSettings filter) {

  /** Copies the list. */
  public SensorsConfig {
    identities = List.copyOf(identities);
  }

  /** Returns whether clients must present a certificate. */
  public boolean knowsClients() {
    return tls != null && tls.clientCa() != null;
  }
}
