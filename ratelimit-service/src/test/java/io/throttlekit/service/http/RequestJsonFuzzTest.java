package io.throttlekit.service.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.service.rls.AnswerText;
import io.throttlekit.service.rls.RequestFields;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged bodies are refused, or parsed as protobuf's own parser does. */
@Tag("slow")
class RequestJsonFuzzTest {
  /** Mutations of each of two seeds. */
  private static final int BODIES = Boolean.getBoolean("throttlekit.thorough") ? 500_000 : 50_000;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {20_261_123, 20_261_124})
  void everyBodyIsRejectedOrReadLikeProtobuf(long seed) throws Exception {
    RandomGenerator random = new SplittableRandom(seed);
    byte[] valid = JsonRouteTest.VALID.strip().getBytes(UTF_8);
    int accepted = 0;
    for (int i = 0; i < BODIES; i++) {
      byte[] body = JsonRouteTest.mutated(valid, random);
      RequestFields request;
      try {
        request = RequestJson.parse(body, true);
      } catch (MalformedBodyException _) {
        continue;
      }
      accepted++;
      RateLimitRequest.Builder expected = RateLimitRequest.newBuilder();
      JsonFormat.parser().merge(new String(body, UTF_8), expected); // throws when it is invalid
      assertThat(request)
          .as("seed %d, body %d: %s", seed, i, new String(body, UTF_8))
          .hasToString(AnswerText.fields(expected.build()).toString());
    }
    assertThat(accepted).isBetween(BODIES / 100, BODIES * 9 / 10);
  }
}
