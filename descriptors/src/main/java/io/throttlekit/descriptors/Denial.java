package io.throttlekit.descriptors;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What clients are told that a rule refuses. Immutable.
 *
 * @param status of the HTTP response, one of {@link #STATUSES}; 0 where the rule leaves it to the
 *     front end
 * @param headers of the response by their names, which are in lower case
 * @param body of the response, empty for none; null where the rule leaves it to the service
 * @param metadata what Envoy is told: texts, numbers, booleans, lists and maps; unmodifiable
 */
public record Denial(
    int status,
    Map<String, String> headers,
    @Nullable String body,
    @Nullable Map<String, Object> metadata) {

  /** The errors that Envoy can send; what is below 400 would look to clients like an admission. */
  public static final Set<Integer> STATUSES =
      Stream.of(
              IntStream.rangeClosed(400, 417),
              IntStream.rangeClosed(421, 424),
              IntStream.of(426, 428, 429, 431),
              IntStream.rangeClosed(500, 508),
              IntStream.of(510, 511))
          .flatMap(IntStream::boxed)
          .collect(Collectors.toUnmodifiableSet());

  /** Keeps the order of the headers. */
  public Denial {
    if (status != 0 && !STATUSES.contains(status)) {
      throw new IllegalArgumentException(status + " is no status of a refusal");
    }
    headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
  }
}
