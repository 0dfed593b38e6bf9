package io.throttlekit.demo;

import java.util.stream.Collectors;

/**
 * The counts of a run.
 *
 * @param through {@code envoy} or {@code grpc}
 * @param seconds duration of the traffic
 * @param seed of the order of requests
 */
public record Summary(String through, int seconds, long seed, Counts counts) {

  /** Returns one JSON object on one line. */
  public String json() {
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

  /** Returns a sentence for readers. */
  public String words() {
    return "%d allowed and %d limited through %s in %d s"
        .formatted(counts.of(Answer.ALLOWED), counts.of(Answer.LIMITED), through, seconds);
  }
}
