package io.throttlekit.descriptors.policy;

import io.throttlekit.rate.Gcra;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.rate.TokenBucket;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One limit of a rule.
 *
 * @param algorithm decides and counts
 * @param requestsPerUnit the policy's number, as responses show it
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

  /** Describes the limit for people: {@code 5 per 10s (gcra, burst 3)}. */
  public String inWords() {
    boolean bursts = algorithm instanceof Gcra || algorithm instanceof TokenBucket;
    String burst = bursts ? ", burst " + algorithm.limit() : "";
    return requestsPerUnit + " per " + window() + " (" + algorithm.id() + burst + ')';
  }

  /** Describes the window: {@code second}, {@code 10s}. */
  String window() {
    return unit == null ? WindowText.of(windowMillis) : unit.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the limit of {@code spec} in {@code domain}.
   *
   * @param fair whether it is divided among tenants. Such a pool has a scope of its own, because a
   *     plain counter of the same entries has another state
   */
  static Limit of(String domain, LimitSpec spec, boolean fair) {
    RateAlgorithm<?> algorithm = spec.algorithm();
    String what = algorithm.id() + '/' + spec.windowMillis();
    String scope = scope(domain, fair ? what + "/fair" : what);
    return new Limit(algorithm, spec.requestsPerUnit(), spec.unit(), spec.windowMillis(), scope);
  }

  /**
   * Returns a text for {@code what} that is unique to {@code domain}. The prefix, the domain's
   * length, keeps domains apart that contain the separator.
   */
  static String scope(String domain, String what) {
    return domain.length() + ":" + domain + '/' + what;
  }
}
