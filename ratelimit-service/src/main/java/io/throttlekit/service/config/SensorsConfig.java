package io.throttlekit.service.config;

import io.throttlekit.service.identity.Identity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The listener for what Envoys say of their requests, and for those that ask for their ceilings. It
 * is there only while a loaded rule needs it.
 *
 * @param host address to listen on
 * @param port from 0 (any free one) to 65535
 * @param tls absent for plaintext
 * @param identities of which a client's certificate must carry one; empty for any
 * @param bindsNodeId whether a node id must be one that the client's certificate allows
 * @param maxStreams streams of all connections together, from 1
 * @param streamsPerConnection streams of one connection, from 1
 */
public record SensorsConfig(
    String host,
    int port,
    @Nullable TlsConfig tls,
    List<Identity> identities,
    boolean bindsNodeId,
    int maxStreams,
    int streamsPerConnection) {

  /** Keeps a copy of the list. */
  public SensorsConfig {
    identities = List.copyOf(identities);
  }

  /** What is in force when nothing is configured. */
  public static SensorsConfig defaults() {
    return new SensorsConfig("127.0.0.1", 18001, null, List.of(), false, 10_000, 100);
  }

  /** Whether clients must show a certificate. */
  public boolean knowsClients() {
    return tls != null && tls.clientCa() != null;
  }
}
