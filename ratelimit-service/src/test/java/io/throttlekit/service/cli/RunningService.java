package io.throttlekit.service.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.service.RateLimitService;
import io.throttlekit.service.config.load.ConfigLoader;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A service in this process, for command lines that call one. */
final class RunningService {
  private RunningService() {}

  static RateLimitService with(Map<String, String> environment, Map<String, List<String>> flags) {
    RateLimitService service =
        new RateLimitService(
            Objects.requireNonNull(new ConfigLoader(environment).load(flags).config()),
            TimeSource.system());
    assertThat(service.start()).isTrue();
    return service;
  }
}
