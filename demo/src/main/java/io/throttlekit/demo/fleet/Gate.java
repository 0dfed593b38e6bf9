package io.throttlekit.demo.fleet;

import io.throttlekit.demo.DemoFiles;
import java.io.IOException;
import java.util.Locale;

/** The component that enforces a concurrency limit. */
public enum Gate {
  /** In the service: each request is a call. */
  SERVICE("lease: {ttl: 15s}"),

  /** In Envoy, by a share that the service sets as {@code max_requests}. */
  ENVOY("gate: envoy, cluster: upstream");

  private final String keys;

  /**
   * @param keys of its limit, beside the bounds
   */
  Gate(String keys) {
    this.keys = keys;
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
