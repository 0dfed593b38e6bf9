package io.throttlekit.simulator.leases;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Evaluation of lease sizes: the same figures on every machine and in every run. */
public final class LeaseReport {
  private final List<PolicyRow> policies = PolicyRow.all();
  private final List<RegretRow> regrets = RegretRow.all();
  private final List<FleetSizeRow> fleets = FleetSizeRow.all();

  /** Runs all simulations; takes some seconds. */
  public LeaseReport() {}

  /** Returns three Markdown tables. */
  public String markdown() {
    return "| policy | published: round trips, overshoot, utilization | here | round trips when an"
        + " exhausted store is not called again |\n|---|---|---|---|\n"
        + joined(policies, PolicyRow::row, "")
        + "\n| windows | published regret | re-created | ours | re-created, whole leases | ours,"
        + " whole leases |\n|---|---|---|---|---|---|\n"
        + joined(regrets, RegretRow::row, "")
        + "\n| nodes | published overshoot, carry-over | re-created | coupled | adaptive |\n"
        + "|---|---|---|---|---|\n"
        + joined(fleets, FleetSizeRow::row, "");
  }

  /** Returns one JSON object in one line. */
  public String json() {
    return "{\"policies\":[%s],\"regrets\":[%s],\"fleets\":[%s]}"
        .formatted(
            joined(policies, PolicyRow::json, ","),
            joined(regrets, RegretRow::json, ","),
            joined(fleets, FleetSizeRow::json, ","));
  }

  private static <T> String joined(List<T> rows, Function<T, String> text, String between) {
    return rows.stream().map(text).collect(Collectors.joining(between));
  }
}
