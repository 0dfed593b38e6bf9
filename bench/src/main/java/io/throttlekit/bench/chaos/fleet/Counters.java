package io.throttlekit.bench.chaos.fleet;

import java.util.List;

/** The limits of a campaign: one for each combination of promises on outages and losses of data. */
public final class Counters {
  private static final long ENDLESS_DAYS = 365_000; // a window that never ends during a campaign
  private static final long ENDLESS_MILLIS = ENDLESS_DAYS * 24 * 3_600_000;

  /** Its name in the policy, and in figures of utilization. */
  static final String GLOBAL = "global";

  /** Key of values that are requested once each. */
  public static final String FLOOD = "flood";

  /** Key of values with many bytes. */
  public static final String LONG = "long";

  // Short windows, so that a fault of seconds covers several.
  static final long GLOBAL_WINDOW_MILLIS = 1_000;
  public static final long REGIONAL_WINDOW_MILLIS = 4_000;

  /**
   * All counters. Each is offered at least twice its limit in a window, by all processes together.
   */
  public static final List<Counter> ALL =
      List.of(
          new Counter(
              GLOBAL, "scope: global, on_outage: deny", true, false, 150, GLOBAL_WINDOW_MILLIS, 50),
          new Counter(
              "endless", "scope: global, on_outage: deny", true, false, 1_000, ENDLESS_MILLIS, 15),
          regional("strict", "on_outage: error, on_data_loss: deny", false),
          regional(
              "leased",
              "tier: leased, lease: {size: 5}, on_outage: deny, on_data_loss: deny",
              false),
          regional("refilled", "on_outage: deny, on_data_loss: refill", true));

  private Counters() {}

  private static Counter regional(String key, String rule, boolean refills) {
    return new Counter(key, rule, false, refills, 60, REGIONAL_WINDOW_MILLIS, 16);
  }

  /** Returns the policy of every process, with a rule that pushes a concurrency limit to Envoys. */
  static String policy() {
    StringBuilder yaml = new StringBuilder("domain: " + Counter.DOMAIN + "\ndescriptors:\n");
    ALL.forEach(counter -> yaml.append(counter.yaml()));
    yaml.append(
        """
          - key: flood
            rate_limit: {requests_per_unit: 4, every: 1s, tier: leased, lease: {size: 2}}
          - key: long
            rate_limit: {requests_per_unit: 10, every: 2s, tier: leased, lease: {size: 5}}
          - key: limiter
            value: upstream
            concurrency: {gate: envoy, cluster: upstream, min: 4, max: 1000}
        """);
    return yaml.toString();
  }
}
