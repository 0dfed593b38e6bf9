package io.throttlekit.descriptors;

import java.util.List;

/** Says which rule a request meets and why. Stateless and thread-safe. */
public final class Explainer {

  /**
   * Explains what happens to one descriptor of a request.
   *
   * @param entries key, value, key, value …
   */
  public Explanation explain(PolicyBook book, String domain, String[] entries) {
    DomainPolicies policies = book.domain(domain);
    Rule rule = policies == null ? null : policies.match(entries);
    return new Explanation(rule, String.valueOf(rule), List.of(), List.of());
  }
}
