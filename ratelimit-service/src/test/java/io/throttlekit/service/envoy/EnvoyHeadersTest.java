package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.service.envoy.Mesh.Changes;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@MeshTest
class EnvoyHeadersTest {
  private static final int DAY_SECONDS = 86_400;

  @TempDir Path folder;

  @Test
  void everyAnswerHasRateLimitHeaders() throws IOException {
    // Headers contain the unit; the log of a day has no window that could end at midnight.
    Changes headers =
        Changes.policy(p -> p.replace(Mesh.ENDLESS, "unit: day, algorithm: sliding_log"))
            .with(
                Map.of(
                    "THROTTLEKIT_RESPONSE_HEADERS_ENABLED", "true",
                    "THROTTLEKIT_RESPONSE_STRUCTURED_HEADERS", "true"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.RATELIMIT_HEADERS, headers)) {
      for (int left = 2; left >= 0; left--) {
        HttpResponse<String> admitted = mesh.get("/", "x-user", "anna");
        assertThat(admitted.statusCode()).isEqualTo(200);
        assertRateLimitHeaders(admitted, left);
        assertThat(admitted.headers().firstValue("retry-after")).isEmpty();
      }
      HttpResponse<String> refused = mesh.get("/", "x-user", "anna");
      assertThat(refused.statusCode()).isEqualTo(429);
      assertRateLimitHeaders(refused, 0);
      assertThat(seconds(refused, "retry-after")).isBetween(1, DAY_SECONDS);
      assertThat(header(refused, "x-envoy-ratelimited")).isEqualTo("true");
    }
  }

  @Test
  void deniesWithABodyAndItsContentType() throws IOException {
    Changes body =
        Changes.NONE.with(
            Map.of(
                "THROTTLEKIT_RESPONSE_DENIED_BODY_CONTENT_TYPE", "application/problem+json",
                "THROTTLEKIT_RESPONSE_DENIED_BODY_TEXT", "{\"title\":\"too many requests\"}"));
    try (Mesh mesh = Mesh.start(folder, EnvoyExample.RATELIMIT_HEADERS, body)) {
      assertThat(mesh.admitted(3, "/", "x-user", "anna")).isEqualTo(3);
      HttpResponse<String> refused = mesh.get("/", "x-user", "anna");
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).isEqualTo("{\"title\":\"too many requests\"}");
      assertThat(refused.headers().allValues("content-type"))
          .containsExactly("application/problem+json");
    }
  }

  private static void assertRateLimitHeaders(HttpResponse<String> answer, int left) {
    assertThat(header(answer, "x-ratelimit-limit")).isEqualTo("3, 3;w=86400;name=\"per user\"");
    assertThat(header(answer, "x-ratelimit-remaining")).isEqualTo(Integer.toString(left));
    assertThat(seconds(answer, "x-ratelimit-reset")).isBetween(0, DAY_SECONDS);
    assertThat(header(answer, "ratelimit-remaining")).isEqualTo(Integer.toString(left));
    assertThat(header(answer, "ratelimit-limit")).startsWith("3");
    assertThat(seconds(answer, "ratelimit-reset")).isBetween(0, DAY_SECONDS);
    assertThat(header(answer, "ratelimit")).startsWith("\"per user\";r=" + left + ";t=");
    assertThat(header(answer, "ratelimit-policy")).isEqualTo("\"per user\";q=3;w=86400");
  }

  private static String header(HttpResponse<String> answer, String name) {
    assertThat(answer.headers().allValues(name)).as(name).hasSize(1);
    return answer.headers().allValues(name).getFirst();
  }

  private static int seconds(HttpResponse<String> answer, String name) {
    return Integer.parseInt(header(answer, name));
  }
}
