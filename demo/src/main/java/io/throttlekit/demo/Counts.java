package io.throttlekit.demo;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The allowed and limited requests, by the rule that decided. Thread-safe. */
final class Counts {
  private record Cell(String rule, Answer answer) {}

  private final List<String> rules;
  private final Map<Cell, LongAdder> counts = new ConcurrentHashMap<>();

  /**
   * @param rules unique names of the rules
   */
  Counts(List<String> rules) {
    this.rules = List.copyOf(rules);
  }

  List<String> rules() {
    return rules;
  }

  void add(String rule, Answer answer) {
    counts.computeIfAbsent(new Cell(rule, answer), _ -> new LongAdder()).increment();
  }

  long of(String rule, Answer answer) {
    LongAdder count = counts.get(new Cell(rule, answer));
    return count == null ? 0 : count.sum();
  }

  long of(Answer answer) {
    return rules.stream().mapToLong(rule -> of(rule, answer)).sum();
  }
}
