package io.throttlekit.envoy;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Complete bootstraps in {@code examples/}, each with the policy that matches it.
 *
 * <p>The files run unchanged, on the ports they contain; {@link #bootstrap(EnvoyWiring)} replaces
 * the ports. A comment at the top of each file describes the example.
 */
public enum EnvoyExample {
  REQUEST_HEADERS,
  REMOTE_ADDRESS,
  GENERIC_KEY,
  PER_ROUTE,
  FAIR_SHARES,
  FILTER_FROM_POLICIES,
  COSTS_AND_REFUNDS,
  CONCURRENCY_LIMIT,
  CONCURRENCY_LEASES,
  EXT_AUTHZ,
  RATELIMIT_HEADERS,
  FAIL_OPEN,
  FAIL_CLOSED,
  TLS;

  // As written in the files; bootstrap(EnvoyWiring) replaces them.
  private static final int LISTENER_PORT = 10000;
  private static final int ADMIN_PORT = 9901;
  private static final int SERVICE_PORT = 8081;
  private static final int SENSORS_PORT = 18001;
  private static final int UPSTREAM_PORT = 8000;
  private static final Pattern ROUTE = Pattern.compile("(?m)(\\{cluster: upstream)}$");
  private static final Pattern ROUTE_OF_LINES = Pattern.compile("(?m)^( +)cluster: upstream$");

  /** The timeout of a call, a connection, a TLS handshake, a keepalive ping or a health check. */
  private static final Pattern TIMEOUT = Pattern.compile("(?<!initial_fetch_)timeout: [0-9.]+s");

  private static final Pattern MINOR = Pattern.compile("(?<![\\d.])1\\.(\\d{1,4})\\.");
  private static final int MINOR_WITH_REFUNDS = 38; // the first that knows is_negative_hits
  private static final String AUTHORITY = "/etc/throttlekit/ca.pem";

  /** Returns the file's name without {@code .yaml}, which is also the policy's domain. */
  public String fileName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the bootstrap as it is in its file. */
  public String bootstrap() {
    return read("examples/" + fileName() + ".yaml");
  }

  /** Returns the policy that matches it. */
  public String policy() {
    return read("examples/policies/" + fileName() + ".yaml");
  }

  /**
   * Returns the bootstrap with other ports and timeouts, and without the timeout of 15 s that
   * Envoy's routes have by default.
   *
   * @throws IllegalStateException if the file does not contain a text that is to be replaced
   */
  public String bootstrap(EnvoyWiring wiring) {
    String text = bootstrap();
    text = port(text, LISTENER_PORT, wiring.listenerPort());
    text = port(text, ADMIN_PORT, wiring.adminPort());
    text = port(text, SERVICE_PORT, wiring.servicePort());
    if (hasSensors()) {
      text = port(text, SENSORS_PORT, wiring.sensorsPort());
    }
    text = port(text, UPSTREAM_PORT, wiring.upstreamPort());
    text = patient(text, wiring.timeout());
    return this == TLS ? replace(text, AUTHORITY, wiring.authority().toString()) : text;
  }

  /**
   * Returns a bootstrap with this timeout for everything that Envoy awaits, except the first
   * configuration of a subscription, and without timeouts of routes: a busy machine pauses a
   * process for longer than the examples wait.
   */
  public static String patient(String bootstrap, Duration timeout) {
    String seconds = String.format(Locale.ROOT, "%.3f", timeout.toMillis() / 1000.0);
    String text = TIMEOUT.matcher(bootstrap).replaceAll("timeout: " + seconds + "s");
    text = ROUTE.matcher(text).replaceAll("$1, timeout: 0s}");
    return ROUTE_OF_LINES.matcher(text).replaceAll("$0\n$1timeout: 0s");
  }

  /** Returns whether its Envoy uses the service's port for sensors. */
  public boolean hasSensors() {
    return this == CONCURRENCY_LIMIT || this == CONCURRENCY_LEASES || this == FILTER_FROM_POLICIES;
  }

  /** Returns whether an Envoy accepts it, by its version or the tag of its image. */
  public boolean runsOn(String version) {
    Matcher minor = MINOR.matcher(version);
    return this != COSTS_AND_REFUNDS
        || !minor.find()
        || Integer.parseInt(minor.group(1)) >= MINOR_WITH_REFUNDS;
  }

  /** Skips the test, with the reason, if this Envoy does not accept it. */
  public void assumeRunsOn(String version) {
    assumeThat(runsOn(version))
        .as("refunds need Envoy 1.%d, and this is %s", MINOR_WITH_REFUNDS, version)
        .isTrue();
  }

  private String port(String text, int shown, int real) {
    return replace(text, "port_value: " + shown + "}", "port_value: " + real + "}");
  }

  private String replace(String text, String shown, String real) {
    if (!text.contains(shown)) {
      throw new IllegalStateException(fileName() + ".yaml no longer shows " + shown);
    }
    return text.replace(shown, real);
  }

  private static String read(String name) {
    try (InputStream file = EnvoyExample.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalStateException("no example file " + name);
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
