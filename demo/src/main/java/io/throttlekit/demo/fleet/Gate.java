package io.throttlekit.demo.fleet;

import io.throttlekit.demo.DemoFiles;
import java.io.IOException;
import java.util.Locale;

/** The component that enforces a concurrency limit. */
public enum Gate {
  /** In the service: each request is a call. */
  SERVICE("lease: {ttl: 15s}", "steering", "fleet_limit"),

  /** In Envoy, by a share that the service sets as {@code max_requests}. */
  ENVOY("gate: envoy, cluster: upstream", "steers_envoys", "limit");

  private static final String METRICS = "throttlekit_concurrency_";

  private final String keys;
  private final String steering;
  private final String limit;

  /**
   * @param keys of its limit, beside the bounds
   * @param steering metric of a replica that is above 0 while it computes the limit
   * @param limit metric of the limit; 0 in a replica that does not know it
   */
  Gate(String keys, String steering, String limit) {
    this.keys = keys;
    this.steering = METRICS + steering;
    this.limit = METRICS + limit;
  }

  /** Returns whether a replica computes the limit now; false if it does not answer. */
  boolean steers(Replica replica) {
    return figure(replica, steering) > 0;
  }

  /** Returns the limit that a replica knows; 0 if it does not answer. */
  double limit(Replica replica) {
    return figure(replica, limit);
  }

  /** Returns the share of a replica; 0 if it does not answer. */
  double share(Replica replica) {
    return figure(replica, METRICS + "share");
  }

  private static double figure(Replica replica, String metric) {
    try {
      return replica.metric(metric);
    } catch (IOException e) {
      return 0; // it is away
    }
  }

  /** Returns the name in {@code --gate}, which is also that of the bootstrap. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the policy of a limit between two bounds, which is constant if they are equal. */
  String policy(int min, int max) throws IOException {
    return DemoFiles.text("fleet/policy.yaml")
        .replace("@MIN@", Integer.toString(min))
        .replace("@MAX@", Integer.toString(max))
        .replace("@GATE@", keys);
  }

  /** Returns the bootstrap of its Envoys; some ports and the node are still open. */
  String bootstrap() throws IOException {
    return DemoFiles.text("fleet/" + word() + ".yaml");
  }
}
