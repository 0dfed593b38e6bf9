package io.throttlekit.descriptors.policy;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Response that clients receive when a rule refuses. Immutable.
 *
 * @param status of the HTTP response, one of {@link #STATUSES}; 0 where the rule leaves it to the
 *     front end
 * @param headers of the response by their names, which are in lower case
 * @param body of the response, empty for none; null where the rule leaves it to the service
 * @param metadata dynamic metadata for Envoy: texts, numbers, booleans, lists and maps;
 *     unmodifiable
 */
public record Denial(
    int status,
    Map<String, String> headers,
    @Nullable String body,
    @Nullable Map<String, Object> metadata) {

  /** Error statuses that Envoy can send. Clients would take a status below 400 for an admission. */
  public static final Set<Integer> STATUSES =
      Stream.of(
              IntStream.rangeClosed(400, 417),
              IntStream.rangeClosed(421, 424),
              IntStream.of(426, 428, 429, 431),
              IntStream.rangeClosed(500, 508),
              IntStream.of(510, 511))
          .flatMap(IntStream::boxed)
          .collect(Collectors.toUnmodifiableSet());

  /** Copies the headers and keeps their order. */
  public Denial {
    if (status != 0 && !STATUSES.contains(status)) {
      throw new IllegalArgumentException(status + " is no status of a refusal");
    }
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }
}
