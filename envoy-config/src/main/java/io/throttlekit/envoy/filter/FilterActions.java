package io.throttlekit.envoy.filter;

import io.envoyproxy.envoy.config.route.v3.RateLimit;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import io.throttlekit.descriptors.policy.ConcurrencyRule.AtService;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.descriptors.policy.EntrySource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Actions with which Envoy makes the descriptors that the policies of a domain limit. Immutable and
 * thread-safe.
 *
 * <p>One list of actions serves all rules whose descriptors have the same keys, as the service
 * selects the rule by the values. Where a policy does not name the source of an entry ({@link
 * EntrySource}), it is derived from the key:
 *
 * <ol>
 *   <li>A key with a meaning in Envoy, such as {@code remote_address} or {@code path}, is filled by
 *       that.
 *   <li>A key for which the policy has fixed values only is constant. With several of them, a route
 *       has to choose one: see {@link #ofRoutes}.
 *   <li>Any other key is a request header, {@code x-} and the key.
 * </ol>
 */
public final class FilterActions {
  private final String domain;
  private final List<ActionList> common;
  private final Map<RouteChoice, List<ActionList>> ofRoutes;
  private final List<String> gaps;
  private final List<String> guesses;
  private final List<Rule> rules;

  FilterActions(
      String domain,
      List<ActionList> common,
      Map<RouteChoice, List<ActionList>> ofRoutes,
      List<String> gaps,
      List<String> guesses,
      List<Rule> rules) {
    this.domain = domain;
    this.common = List.copyOf(common);
    this.ofRoutes = ofRoutes;
    this.gaps = List.copyOf(gaps);
    this.guesses = List.copyOf(guesses);
    this.rules = List.copyOf(rules);
  }

  /**
   * Derives the actions of a domain; none if no policy defines it.
   *
   * @param sources of entries by key, which take precedence over those of the policies
   */
  public static FilterActions of(PolicyBook book, String domain, Map<String, EntrySource> sources) {
    Map<String, EntrySource> all = new LinkedHashMap<>(book.sources(domain));
    all.putAll(sources);
    List<Rule> rules = book.rules().stream().filter(rule -> rule.domain().equals(domain)).toList();
    ActionDerivation derivation = new ActionDerivation(all, rules);
    derivation.descend(book.descriptors(domain));
    List<ActionList> common = new ArrayList<>(derivation.common());
    if (rules.stream().anyMatch(FilterActions::isReleasedByEnvoy)) {
      common.addAll(ActionList.ofStreamDone());
    }
    return new FilterActions(
        domain, common, derivation.ofRoutes(), derivation.gaps(), derivation.guesses(), rules);
  }

  /** Returns the domain. */
  public String domain() {
    return domain;
  }

  /** Returns the {@code rate_limits} of the filter, which apply to every request. */
  public List<RateLimit> rateLimits() {
    return common.stream().map(ActionList::message).toList();
  }

  /**
   * Returns what the actions cannot contain: descriptors that depend on the route, and those whose
   * source cannot be derived. A line each.
   */
  public List<String> missing() {
    List<String> missing = new ArrayList<>();
    ofRoutes.keySet().forEach(choice -> missing.add(choice + " depends on the route"));
    missing.addAll(gaps);
    return missing;
  }

  /**
   * Returns the entries that every request has by a guess, as the policy has one value of their
   * key, with their places.
   */
  public List<String> guesses() {
    return guesses;
  }

  List<ActionList> common() {
    return common;
  }

  /** Returns the lists of routes, which apply in addition to {@link #common()}. */
  Map<RouteChoice, List<ActionList>> ofRoutes() {
    return ofRoutes;
  }

  List<String> gaps() {
    return gaps;
  }

  /** Returns the limits that Envoys receive over ADS. */
  List<AtEnvoys> atEnvoys() {
    return rules.stream()
        .flatMap(rule ->
            rule.concurrency() != null && rule.concurrency().gate() instanceof AtEnvoys gate
                ? Stream.of(gate)
                : Stream.empty())
        .toList();
  }

  /** Returns whether entries of the access log release permits. */
  boolean needsUnbufferedLog() {
    return rules.stream()
        .anyMatch(rule ->
            rule.concurrency() != null
                && rule.concurrency().gate() instanceof AtService gate
                && gate.lease().release() == Release.ACCESS_LOG);
  }

  private static boolean isReleasedByEnvoy(Rule rule) {
    return rule.concurrency() != null
        && rule.concurrency().gate() instanceof AtService gate
        && gate.lease().release() == Release.STREAM_DONE;
  }
}
