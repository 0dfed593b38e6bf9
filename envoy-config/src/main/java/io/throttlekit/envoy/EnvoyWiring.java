package io.throttlekit.envoy;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What an example bootstrap is connected to in place of the ports and files it shows.
 *
 * @param listenerPort where Envoy listens; 0 is any free port
 * @param adminPort where its admin interface listens; 0 is any free port
 * @param servicePort the rate-limit service's gRPC port on loopback
 * @param sensorsPort the service's port for sensors on loopback; read only by the examples that
 *     send it something
 * @param upstreamPort the upstream's HTTP port on loopback
 * @param patience how long Envoy waits for an answer, and for a connection
 * @param authority the certificate authority of the service, PEM; read only by {@link
 *     EnvoyExample#TLS}
 */
public record EnvoyWiring(
    int listenerPort,
    int adminPort,
    int servicePort,
    int sensorsPort,
    int upstreamPort,
    Duration patience,
    Path authority) {

  /** Free ports for Envoy, no TLS, and one port for all that the service offers. */
  public static EnvoyWiring anyPorts(int servicePort, int upstreamPort, Duration patience) {
    return new EnvoyWiring(
        0, 0, servicePort, servicePort, upstreamPort, patience, Path.of("/dev/null"));
  }

  /** The same with another authority. */
  public EnvoyWiring withAuthority(Path other) {
    return new EnvoyWiring(
        listenerPort, adminPort, servicePort, sensorsPort, upstreamPort, patience, other);
  }
}
