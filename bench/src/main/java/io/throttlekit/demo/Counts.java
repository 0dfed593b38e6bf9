package io.throttlekit.demo;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/** How many requests were allowed and limited, by the rule that decided. Thread-safe. */
final class Counts {
  private static final int ANSWERS = Answer.values().length;

  private final List<String> rules;
  private final AtomicLongArray counts;

  /**
   * @param rules the names of the rules, without repetition
   */
  Counts(List<String> rules) {
    this.rules = List.copyOf(rules);
    this.counts = new AtomicLongArray(rules.size() * ANSWERS);
  }

  List<String> rules() {
    return rules;
  }

  void add(String rule, Answer answer) {
    counts.incrementAndGet(rules.indexOf(rule) * ANSWERS + answer.ordinal());
  }

  long of(String rule, Answer answer) {
    return counts.get(rules.indexOf(rule) * ANSWERS + answer.ordinal());
  }

  long of(Answer answer) {
    return rules.stream().mapToLong(rule -> of(rule, answer)).sum();
  }
}
