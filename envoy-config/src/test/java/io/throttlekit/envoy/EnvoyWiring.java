package io.throttlekit.envoy;

import java.nio.file.Path;
import java.time.Duration;

/**
 * Ports and files that replace those in an example bootstrap.
 *
 * @param listenerPort port of Envoy's listener; 0 is any free port
 * @param adminPort port of Envoy's admin interface; 0 is any free port
 * @param servicePort the rate-limit service's gRPC port on loopback
 * @param sensorsPort the service's port for sensors on loopback; used only by examples that send to
 *     it
 * @param upstreamPort the upstream's HTTP port on loopback
 * @param timeout of Envoy's calls to the service, of its connections, pings and health checks
 * @param authority certificate authority of the service, PEM; used only by {@link EnvoyExample#TLS}
 */
public record EnvoyWiring(
    int listenerPort,
    int adminPort,
    int servicePort,
    int sensorsPort,
    int upstreamPort,
    Duration timeout,
    Path authority) {

  /** Returns free ports for Envoy, no TLS, and one port for all of the service. */
  public static EnvoyWiring anyPorts(int servicePort, int upstreamPort, Duration timeout) {
    return new EnvoyWiring(
        0, 0, servicePort, servicePort, upstreamPort, timeout, Path.of("/dev/null"));
  }

  /** Returns the same with another certificate authority. */
  public EnvoyWiring withAuthority(Path other) {
    return new EnvoyWiring(
        listenerPort, adminPort, servicePort, sensorsPort, upstreamPort, timeout, other);
  }
}
