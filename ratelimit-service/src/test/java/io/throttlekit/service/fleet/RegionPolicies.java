package io.throttlekit.service.fleet;

import java.util.List;

/** The policies of regions that share limits. */
final class RegionPolicies {
  /** Units of a window. */
  static final long LIMIT = 100;

  static final long WINDOW_MILLIS = 2_000;

  /** Of a process. */
  static final long LEASE = 5;

  static final long ENDLESS_DAYS = 365_000;
  static final long ENDLESS_MILLIS = ENDLESS_DAYS * 24 * 3_600_000;

  private RegionPolicies() {}

  /** Of each region. All have the same but for two keys. */
  static List<String> ofEachRegion() {
    String second = WINDOW_MILLIS + "ms";
    String endless = ENDLESS_DAYS + "d";
    String size = "size: " + LEASE;
    String kept = size + ", return_idle_after: 0";
    String all =
        "domain: fleet\ndescriptors:\n"
            + rule("steady", 2 * LIMIT, 2 * WINDOW_MILLIS + "ms", "deny", size)
            + rule("user", LIMIT, second, "deny", size)
            + rule("alone", LIMIT, second, "regional_only", size)
            + rule("held", LIMIT, second, "deny", "size: 8")
            + rule("endless", 5 * LIMIT, endless, "deny", kept)
            + rule("endless alone", LIMIT, endless, "regional_only", kept);
    String ours =
        rule("limits", 100, endless, "error", size) + rule("windows", 100, endless, "deny", size);
    String theirs =
        rule("limits", 200, endless, "error", size)
            + rule("windows", 100, ENDLESS_DAYS / 2 + "d", "deny", size);
    return List.of(all + ours, all + theirs, all + ours);
  }

  private static String rule(String key, long limit, String window, String onOutage, String lease) {
    return """
      - key: %s
        rate_limit:
          requests_per_unit: %d
          every: %s
          scope: global
          on_outage: %s
          lease: {%s}
    """
        .formatted(key, limit, window, onOutage, lease);
  }
}
