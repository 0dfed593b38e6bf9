package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.Ceiling;
import io.throttlekit.descriptors.Rule;
import org.jspecify.annotations.Nullable;

/**
 * A ceiling that a request reaches.
 *
 * @param rule says so
 * @param terms of the rule
 * @param gate of the terms
 * @param entries of the descriptor that reached it: key, value, key, value …
 * @param looks whether it only looks whether there is room
 * @param refuses whether the request is refused where there is none; it never waits if not
 */
public record Wanted(
    Rule rule,
    Ceiling terms,
    Ceiling.AtService gate,
    @SuppressWarnings("ArrayRecordComponent") String[] entries, // nothing compares these
    boolean looks,
    boolean refuses) {

  /** What the entry that names the priority says; null when there is none. */
  @Nullable String priority() {
    String key = gate.priorityEntry();
    if (key != null) {
      for (int i = 0; i + 1 < entries.length; i += 2) {
        if (entries[i].equals(key)) {
          return entries[i + 1];
        }
      }
    }
    return null;
  }
}
