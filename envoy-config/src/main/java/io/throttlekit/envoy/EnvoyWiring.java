package io.throttlekit.envoy;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What an example bootstrap is connected to in place of the ports and files it shows.
 *
 * @param listenerPort where Envoy listens; 0 is any free port
 * @param adminPort where its admin interface listens; 0 is any free port
 * @param servicePort the rate-limit service's gRPC port on loopback
 * @param upstreamPort the upstream's HTTP port on loopback
 * @param patience how long Envoy waits for an answer, and for a connection
 * @param authority the certificate authority of the service, PEM; read only by {@link
 *     EnvoyExample#TLS}
 */
public record EnvoyWiring(
    int listenerPort,
    int adminPort,
    int servicePort,
    int upstreamPort,
    Duration patience,
    Path authority) {

  /** Free ports for Envoy, and no TLS. */
  public static EnvoyWiring anyPorts(int servicePort, int upstreamPort, Duration patience) {
    return new EnvoyWiring(0, 0, servicePort, upstreamPort, patience, Path.of("/dev/null"));
  }

  /** The same with another authority. */
  public EnvoyWiring withAuthority(Path other) {
    return new EnvoyWiring(listenerPort, adminPort, servicePort, upstreamPort, patience, other);
  }
}
