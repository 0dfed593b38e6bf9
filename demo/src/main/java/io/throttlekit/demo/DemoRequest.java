package io.throttlekit.demo;

import java.util.List;

/**
 * A request that the demo sends.
 *
 * @param user sender of the request
 * @param path of the URL
 * @param descriptor created by Envoy, as key, value, key, value…
 * @param weight relative frequency
 */
record DemoRequest(String user, String path, List<String> descriptor, int weight) {

  /** The traffic mix: about twice as much as the limits allow. */
  static final List<DemoRequest> MIX =
      List.of(
          api("anna", 12),
          api("bert", 5),
          api("carla", 12),
          login("anna", 2),
          login("bert", 1),
          new DemoRequest("carla", "/export", List.of("route", "export"), 6));

  private static DemoRequest api(String user, int weight) {
    return new DemoRequest(user, "/api", List.of("user", user), weight);
  }

  private static DemoRequest login(String user, int weight) {
    return new DemoRequest(user, "/login", List.of("route", "login", "user", user), weight);
  }
}
