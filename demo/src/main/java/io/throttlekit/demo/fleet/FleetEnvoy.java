package io.throttlekit.demo.fleet;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An Envoy of the fleet.
 *
 * @param name its node id
 * @param weight its part of the load
 */
record FleetEnvoy(String name, int weight, EnvoyProcess process) {
  private static final Pattern MAX_REQUESTS =
      Pattern.compile(
          "\"circuit_breakers\\.upstream\\.default\\.max_requests\":\\s*\\{[^}]*"
              + "\"final_value\":\\s*\"(\\d+)\"");

  /** Returns its share as the admin interface shows it; −1 while it has none. */
  int maxRequests() throws IOException {
    Matcher value = MAX_REQUESTS.matcher(process.admin("/runtime"));
    return value.find() ? Integer.parseInt(value.group(1)) : -1;
  }
}
