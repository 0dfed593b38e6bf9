package io.throttlekit.descriptors.policy;

import io.throttlekit.descriptors.source.SourceLocation;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Explanation why one descriptor of a request is limited by a rule, or by none.
 *
 * @param rule the rule that decides; {@code null} if none does
 * @param summary the reason in one sentence
 * @param steps the descriptor that each entry found, up to the first entry that found none
 * @param shares tenant, weight, guarantee and pool, a sentence each; empty where the rule's limit
 *     is not divided among tenants
 * @param nearMisses rules and descriptors that a slightly different request would match, ordered by
 *     {@link NearMiss.Kind} (likeliest first), then by policy; empty when a rule matched
 */
public record Explanation(
    @Nullable Rule rule,
    String summary,
    List<Step> steps,
    List<String> shares,
    List<NearMiss> nearMisses) {

  /** Ways in which an entry of a request finds a descriptor of a policy, in order of precedence. */
  public enum MatchedBy {
    /** The text {@code key_value} is the descriptor's. */
    EXACT,
    /** The descriptor is the first wildcard that matches {@code key_value}. */
    WILDCARD,
    /** The descriptor is the default of the key. */
    DEFAULT
  }

  /** Copies the lists. */
  public Explanation {
    steps = List.copyOf(steps);
    shares = List.copyOf(shares);
    nearMisses = List.copyOf(nearMisses);
  }

  /**
   * Descriptor that one entry found.
   *
   * @param entry its number, from 1
   * @param key key of the entry
   * @param value value of the entry
   * @param matchedBy how it found the descriptor
   * @param descriptor text of the descriptor it found
   * @param location place of the descriptor
   * @param sharesCounter whether all values that its wildcard matches share one counter
   */
  public record Step(
      int entry,
      String key,
      String value,
      MatchedBy matchedBy,
      String descriptor,
      SourceLocation location,
      boolean sharesCounter) {

    /** {@code entry 1 user=bob: default of `user` (shop.yaml:3:5)}. */
    @Override
    public String toString() {
      String how =
          switch (matchedBy) {
            case EXACT -> "exactly";
            case WILDCARD -> "wildcard";
            case DEFAULT -> "default of";
          };
      return "entry %d %s=%s: %s `%s` (%s)".formatted(entry, key, value, how, descriptor, location);
    }
  }

  /** Creates an explanation why no rule decides. */
  static Explanation ofNoRule(String summary, List<Step> steps, List<NearMiss> nearMisses) {
    return new Explanation(null, summary, steps, List.of(), nearMisses);
  }

  /**
   * Rule or descriptor that a slightly different request would match.
   *
   * @param kind the kind of difference
   * @param message the difference in one sentence, with the place of the rule or descriptor
   */
  public record NearMiss(Kind kind, String message) {

    /** Kinds of difference, likeliest first. */
    public enum Kind {
      /** Upper and lower case, of a domain, key or value. */
      CASE,
      /** A few letters, of a domain or key. */
      SPELLING,
      /** A value that a pattern does not describe. */
      PATTERN,
      /** A key whose other values are known. */
      VALUE,
      /** Entries are missing at the end. */
      MORE_ENTRIES,
      /** There are entries too many. */
      FEWER_ENTRIES,
      /** The order of the entries. */
      ORDER,
      /** A more specific descriptor was found first, and there is no backtracking. */
      HIDDEN
    }

    @Override
    public String toString() {
      return message;
    }
  }

  /** Returns the whole explanation for people, line by line. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(summary);
    steps.forEach(step -> lines.add("  " + step + counters(step)));
    shares.forEach(share -> lines.add("  " + share));
    nearMisses.forEach(miss -> lines.add("  near miss: " + miss));
    return lines;
  }

  /** Describes the counters of the values that a wildcard matches. */
  private String counters(Step step) {
    Rule decides = rule;
    if (step.matchedBy() != MatchedBy.WILDCARD || decides == null || decides.unlimited()) {
      return "";
    }
    ConcurrencyRule concurrency = decides.concurrency();
    if (concurrency != null && concurrency.gate() instanceof ConcurrencyRule.AtEnvoys) {
      return ""; // one circuit breaker, whatever matches
    }
    String counter = concurrency == null ? "counter" : "limit";
    String values = step.sharesCounter() ? "for all matched values" : "per matched value";
    return ", one " + counter + ' ' + values;
  }

  /** Returns the lines, joined by line breaks. */
  @Override
  public String toString() {
    return String.join("\n", lines());
  }
}
