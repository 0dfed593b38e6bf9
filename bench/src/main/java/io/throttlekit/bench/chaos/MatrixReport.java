package io.throttlekit.bench.chaos;

import java.util.List;
import java.util.stream.Collectors;

/** Results of each fault by itself. */
public record MatrixReport(List<MatrixRow> rows, List<String> problems) implements Report {

  /** Copies both lists. */
  public MatrixReport {
    rows = List.copyOf(rows);
    problems = List.copyOf(problems);
  }

  @Override
  public long overshoot() {
    return rows.stream().mapToLong(MatrixRow::overshoot).sum();
  }

  /** Returns an empty list: rows have no windows without faults. */
  @Override
  public List<String> unjudged() {
    return List.of();
  }

  @Override
  public String repeat() {
    return "bin/bench chaos --matrix";
  }

  @Override
  public String markdown() {
    return rows.stream()
        .map(MatrixRow::markdown)
        .collect(Collectors.joining("\n", MatrixRow.head(), "\n"));
  }

  @Override
  public String json() {
    return rows.stream().map(MatrixRow::json).collect(Collectors.joining(",", "[", "]"));
  }
}
