package io.throttlekit.demo.overload;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LimiterTest {

  /** The response of Envoy 1.40 to {@code /runtime}. */
  private static final String RUNTIME =
      """
      {
       "layers": [
        "limit"
       ],
       "entries": {
        "circuit_breakers.upstream.high.max_requests": {
         "final_value": "3",
         "layer_values": [
          "3"
         ]
        },
        "circuit_breakers.upstream.default.max_requests": {
         "final_value": "17",
         "layer_values": [
          "17"
         ]
        }
       }
      }
      """;

  @Test
  void readsTheLimitFromEnvoysAdminPages() {
    assertThat(Limiter.OURS.read(RUNTIME)).isEqualTo(17);
    assertThat(
            Limiter.ENVOY.read(
                "http.http.adaptive_concurrency.gradient_controller.concurrency_limit: 23\n"))
        .isEqualTo(23);
  }

  @Test
  void theBootstrapLimitHoldsUntilTheFirstPush() {
    assertThat(Limiter.OURS.read("{\"layers\": [], \"entries\": {}}")).isEqualTo(100);
  }

  @ParameterizedTest
  @EnumSource
  void noBootstrapIsLeftWithAPlaceholder(Limiter limiter) throws IOException {
    assertThat(limiter.bootstrap(1234, 5678))
        .contains("port_value: 1234}")
        .doesNotContainPattern("(?m)^[^#]*@[A-Z]+@");
  }
}
