package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.Options;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The whole service in this process, on free ports of loopback.
 *
 * @param sensorsPort 0 if no policy needs it
 */
record ServiceOfTest(RateLimitService service, int port, int debugPort, int sensorsPort)
    implements AutoCloseable {
  private static final Pattern PORTS =
      Pattern.compile("grpc=[^ ]*:(\\d+).*debug=[^ ]*:(\\d+)(?: sensors=[^ ]*:(\\d+))?");
  private static final Map<String, String> QUICK_START =
      Map.of(
          "THROTTLEKIT_GRPC_HOST", "127.0.0.1",
          "THROTTLEKIT_GRPC_PORT", "0",
          "THROTTLEKIT_HTTP_PORT", "0",
          "THROTTLEKIT_DEBUG_PORT", "0",
          "THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0",
          "THROTTLEKIT_WARM_UP_REQUESTS", "0");

  /**
   * Starts it, and waits until it serves.
   *
   * @param environment set in addition
   */
  static ServiceOfTest start(Path policies, Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(QUICK_START);
    all.putAll(environment);
    var loaded = new ConfigLoader(all).load(Options.of("--policies", policies.toString()));
    RateLimitService service =
        new RateLimitService(Objects.requireNonNull(loaded.config()), TimeSource.system());
    assertThat(service.start()).isTrue();
    Matcher ports = PORTS.matcher(service.readyLine());
    assertThat(ports.find()).as(service.readyLine()).isTrue();
    return new ServiceOfTest(
        service,
        Integer.parseInt(ports.group(1)),
        Integer.parseInt(ports.group(2)),
        ports.group(3) == null ? 0 : Integer.parseInt(ports.group(3)));
  }

  @Override
  public void close() {
    service.stop();
  }
}
