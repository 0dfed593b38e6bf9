package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Rounds of random faults, with Redis and PostgreSQL as the coordinator in turn.
 *
 * @param seed determines the faults and their times
 * @param time of all rounds together, without the starts of their fleets; from 10 s
 * @param folder for files of the processes
 */
public record Campaign(long seed, Duration time, Path folder) {
  // A longer campaign has more rounds, each with a new fleet.
  private static final long MAX_ROUND_SECONDS = 150;
  private static final int KINDS = 2; // of coordinators

  /** Returns the number of rounds, which come in pairs, one for each kind of coordinator. */
  int rounds() {
    return KINDS * Math.toIntExact(Math.ceilDiv(time.toSeconds(), KINDS * MAX_ROUND_SECONDS));
  }

  /** Returns the faults of a round. */
  Schedule schedule(int round) {
    return Schedule.of(seed, round, rounds(), kind(round), time.toMillis() / rounds());
  }

  private static CoordinatorKind kind(int round) {
    return round % KINDS == 0 ? CoordinatorKind.REDIS : CoordinatorKind.POSTGRESQL;
  }

  /**
   * Runs the campaign.
   *
   * @param log receives a line for each ended fault
   */
  public CampaignReport run(PrintStream log) throws IOException, InterruptedException {
    List<RoundResult> results = new ArrayList<>();
    for (int round = 0; round < rounds(); round++) {
      log.println(
          "round %d of %d, seed %d, coordinator: %s"
              .formatted(round + 1, rounds(), seed, kind(round).words()));
      try {
        Path place = folder.resolve("round-" + round);
        results.add(Round.run(place, kind(round), schedule(round), log));
      } catch (SQLException e) {
        throw new IOException(e);
      }
      log.println(results.getLast().row());
      results.getLast().problems().forEach(log::println);
      results.getLast().unjudged().forEach(log::println);
    }
    return new CampaignReport(seed, time, results);
  }
}
