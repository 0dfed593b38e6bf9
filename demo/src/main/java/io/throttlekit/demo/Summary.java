package io.throttlekit.demo;

import java.util.stream.Collectors;

/**
 * What the demo has counted.
 *
 * @param through {@code envoy} or {@code grpc}
 * @param seconds how long traffic ran
 * @param seed of the order of requests
 */
record Summary(String through, int seconds, long seed, Counts counts) {

  /** One JSON object on one line. */
  String json() {
    String rules =
        counts.rules().stream()
            .map(rule ->
                "{\"rule\":\"%s\",\"allowed\":%d,\"limited\":%d}"
                    .formatted(
                        rule.replaceAll(" .*", ""),
                        counts.of(rule, Answer.ALLOWED),
                        counts.of(rule, Answer.LIMITED)))
            .collect(Collectors.joining(","));
    return "{\"through\":\"%s\",\"allowed\":%d,\"limited\":%d,\"failed\":%d,\"seconds\":%d,\"seed\":%d,\"rules\":[%s]}"
        .formatted(
            through,
            counts.of(Answer.ALLOWED),
            counts.of(Answer.LIMITED),
            counts.of(Answer.FAILED),
            seconds,
            seed,
            rules);
  }

  /** The same for people. */
  String words() {
    return "%d allowed and %d limited through %s in %d s"
        .formatted(counts.of(Answer.ALLOWED), counts.of(Answer.LIMITED), through, seconds);
  }
}
