package io.throttlekit.descriptors.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Descriptors from the root of a domain down to one of them. Immutable. */
record RulePath(List<EntryPattern> steps) {
  static final RulePath ROOT = new RulePath(List.of());

  RulePath {
    steps = List.copyOf(steps);
  }

  RulePath to(EntryPattern step) {
    List<EntryPattern> longer = new ArrayList<>(steps);
    longer.add(step);
    return new RulePath(longer);
  }

  /**
   * Returns the texts of the descriptors, which are also the metric keys when no value appears in
   * them.
   */
  List<String> composites() {
    return steps.stream().map(EntryPattern::composite).toList();
  }

  /** Returns whether a value of the request appears in the metric keys. */
  boolean dynamicMetricKeys() {
    return detailed() || steps.stream().anyMatch(step -> step.source().valueToMetric());
  }

  /**
   * Returns the entries, with the pattern in place of the value wherever all values share a
   * counter.
   *
   * <p>Texts that equal the policy's are replaced by the policy's strings. The counters of a rule
   * then refer to the same few strings, which are in the processor's cache during lookups.
   */
  String[] chargedEntries(String[] entries) {
    int own = 2 * steps.size();
    // A priority entry is one more than the steps, and is not charged.
    String[] charged = own == 0 || own == entries.length ? null : Arrays.copyOf(entries, own);
    for (int i = 0; i < steps.size(); i++) {
      EntryPattern step = steps.get(i);
      entries[2 * i] = ofPolicy(step.source().key(), entries[2 * i]);
      entries[2 * i + 1] = ofPolicy(step.source().value(), entries[2 * i + 1]);
      String key = entries[2 * i];
      if (shares(step, key, entries[2 * i + 1])) {
        if (charged == null) {
          charged = entries.clone();
        }
        charged[2 * i + 1] = step.sharedValue(key);
      }
    }
    return charged == null ? entries : charged;
  }

  /** Returns one metric key per entry of a request that these descriptors matched. */
  List<String> metricKeys(String[] entries) {
    boolean detailed = detailed();
    List<String> keys = new ArrayList<>(steps.size());
    for (int i = 0; i < steps.size(); i++) {
      keys.add(metricKey(steps.get(i), entries[2 * i], entries[2 * i + 1], detailed));
    }
    return keys;
  }

  /** Returns the policy's string if the received one is equal. */
  private static String ofPolicy(String text, String received) {
    return text.equals(received) ? text : received;
  }

  /**
   * Returns whether an entry that found this descriptor is charged under the pattern instead of its
   * value.
   */
  private static boolean shares(EntryPattern step, String key, String value) {
    return step.source().shareThreshold() && step.matchedBy(key, value) == MatchedBy.WILDCARD;
  }

  private static String metricKey(EntryPattern step, String key, String value, boolean detailed) {
    if (shares(step, key, value)) {
      return step.composite();
    }
    if (detailed || (step.source().valueToMetric() && !value.isEmpty())) {
      return key + '_' + value;
    }
    return step.composite();
  }

  private boolean detailed() {
    return !steps.isEmpty() && steps.getLast().source().detailedMetric();
  }
}
