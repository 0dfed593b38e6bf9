package io.throttlekit.descriptors.policy;

import io.throttlekit.CounterKey;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
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
 * @param division how tenants share it; null where it is not divided
 */
public record Limit(
    RateAlgorithm<?> algorithm,
    long requestsPerUnit,
    @Nullable LimitUnit unit,
    long windowMillis,
    String counterScope,
    @Nullable Division division) {

  /**
   * Division of a limit among tenants. One object for each limit: requests refer to it.
   *
   * @param terms the limit, and how tenants share it
   * @param tenantScope domain, algorithm and window in a text that is no counter's scope
   */
  public record Division(FairTerms terms, String tenantScope) {}

  /** Describes the limit for people: {@code 5 per 10s (gcra, burst 3)}. */
  public String inWords() {
    boolean bursts = algorithm instanceof Gcra || algorithm instanceof TokenBucket;
    String burst = bursts ? ", burst " + algorithm.limit() : "";
    return requestsPerUnit + " per " + window() + " (" + algorithm.id() + burst + ')';
  }

  /**
   * Returns the key of the counter that a request is charged to.
   *
   * @param rule whose limit this is
   * @param entries of a request that the rule matched; strings in it may be replaced by equal ones
   */
  public CounterKey counter(Rule rule, String[] entries) {
    RecentKey pool = rule.pool;
    return pool == null
        ? CounterKey.of(counterScope, rule.chargedEntries(entries))
        : pool.of(counterScope, rule, entries);
  }

  /**
   * Returns the tenant that a request is charged to; null where the limit is not divided.
   *
   * @param rule whose limit this is
   * @param entries of a request that the rule matched; strings in it may be replaced by equal ones
   */
  public @Nullable FairTenant tenant(Rule rule, String[] entries) {
    Division parts = division;
    if (parts == null) {
      return null;
    }
    int at = rule.tenantAt(entries);
    return new FairTenant(
        CounterKey.of(parts.tenantScope(), rule.tenantEntries(entries, at)),
        rule.tenantWeight(entries, at).inThousandths(),
        parts.terms());
  }

  /** Describes the window: {@code second}, {@code 10s}. */
  String window() {
    return unit == null ? WindowText.of(windowMillis) : unit.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the limit of {@code spec} in {@code domain}.
   *
   * @param share how it is divided among tenants, or null. The pool has a scope of its own, because
   *     a plain counter of the same entries has another state
   */
  static Limit of(String domain, LimitSpec spec, @Nullable FairShare share) {
    RateAlgorithm<?> algorithm = spec.algorithm();
    String what = algorithm.id() + '/' + spec.windowMillis();
    Division division = null;
    if (share != null) {
      division =
          new Division(
              share.terms(algorithm.limit(), spec.windowMillis()), scope(domain, what + "/tenant"));
      what += "/fair";
    }
    return new Limit(
        algorithm,
        spec.requestsPerUnit(),
        spec.unit(),
        spec.windowMillis(),
        scope(domain, what),
        division);
  }

  /**
   * Returns a text for {@code what} that is unique to {@code domain}. The prefix, the domain's
   * length, keeps domains apart that contain the separator.
   */
  static String scope(String domain, String what) {
    return domain.length() + ":" + domain + '/' + what;
  }
}
