package io.throttlekit.service;

import io.throttlekit.TimeSource;
import io.throttlekit.service.config.load.ConfigLoader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** A service in this process for a test, on ports of the loopback interface. */
public final class LoopbackService {
  private LoopbackService() {}

  /**
   * Returns a mutable environment with these policies, free ports, and deadlines that a store keeps
   * on a busy machine, too.
   */
  public static Map<String, String> environment(Path policies) {
    return new HashMap<>(
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", policies.toString(),
            "GRPC_HOST", "127.0.0.1",
            "HOST", "127.0.0.1",
            "GRPC_PORT", "0",
            "PORT", "0",
            "DEBUG_PORT", "0",
            "THROTTLEKIT_STORE_DEADLINE", "20s",
            "THROTTLEKIT_STORE_LEASE_DEADLINE", "20s",
            "THROTTLEKIT_STORE_CONNECT_TIMEOUT", "20s",
            "THROTTLEKIT_STORE_BREAKER_AFTER", "20s"));
  }

  /** Creates a service that is not started. */
  public static RateLimitService of(Map<String, String> environment) {
    return of(environment, TimeSource.system());
  }

  /** Creates a service that is not started, with a clock. */
  public static RateLimitService of(Map<String, String> environment, TimeSource time) {
    var config = new ConfigLoader(environment).load(Map.of()).config();
    return new RateLimitService(Objects.requireNonNull(config), time);
  }
}
