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

  /** Returns a mutable environment with these policies and free ports. */
  public static Map<String, String> environment(Path policies) {
    return new HashMap<>(
        Map.of(
            "THROTTLEKIT_POLICIES_PATHS", policies.toString(),
            "GRPC_HOST", "127.0.0.1",
            "HOST", "127.0.0.1",
            "GRPC_PORT", "0",
            "PORT", "0",
            "DEBUG_PORT", "0"));
  }

  /** Creates a service that is not started. */
  public static RateLimitService of(Map<String, String> environment) {
    var config = new ConfigLoader(environment).load(Map.of()).config();
    return new RateLimitService(Objects.requireNonNull(config), TimeSource.system());
  }
}
