package io.throttlekit.demo;

import java.util.List;

/**
 * A request that the demo sends.
 *
 * @param user who sends it
 * @param path where to
 * @param descriptor what Envoy makes of it, as key, value, key, value…
 * @param weight how often it is sent, relative to the others
 */
record DemoRequest(String user, String path, List<String> descriptor, int weight) {

  /** The traffic: about as much as each limit allows, and about as much again. */
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
