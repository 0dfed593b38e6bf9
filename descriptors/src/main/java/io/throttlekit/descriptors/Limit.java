package io.throttlekit.descriptors;

import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.TokenBucket;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One limit of a rule.
 *
 * @param algorithm decides and counts
 * @param requestsPerUnit what the policy says, as answers show it
 * @param unit the window as Envoy's protocol names it, or {@code null} when it has no name for it
 * @param windowMillis length of the window in ms
 * @param counterScope domain, algorithm and window in a text that no other combination yields
 */
public record Limit(
    RateAlgorithm<?> algorithm,
    long requestsPerUnit,
    @Nullable LimitUnit unit,
    long windowMillis,
    String counterScope) {

  /** What it admits, for people: {@code 5 per 10s (gcra, burst 3)}. */
  public String inWords() {
    String window =
        unit == null ? WindowText.of(windowMillis) : unit.name().toLowerCase(Locale.ROOT);
    boolean bursts = algorithm instanceof Gcra || algorithm instanceof TokenBucket;
    String burst = bursts ? ", burst " + algorithm.limit() : "";
    return requestsPerUnit + " per " + window + " (" + algorithm.id() + burst + ')';
  }

  /** The limit of {@code spec} in {@code domain}. */
  static Limit of(String domain, LimitSpec spec) {
    RateAlgorithm<?> algorithm = spec.algorithm();
    String scope = scope(domain, algorithm.id() + '/' + spec.windowMillis());
    return new Limit(algorithm, spec.requestsPerUnit(), spec.unit(), spec.windowMillis(), scope);
  }

  /**
   * {@code what} of {@code domain} as no other domain has it: its length keeps one that contains
   * the separator apart from every other.
   */
  static String scope(String domain, String what) {
    return domain.length() + ":" + domain + '/' + what;
  }
}
