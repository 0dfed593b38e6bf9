package io.throttlekit.bench.chaos;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What came of a campaign. */
public record CampaignReport(long seed, List<RoundResult> rounds) implements Report {

  /** Copies the list. */
  public CampaignReport {
    rounds = List.copyOf(rounds);
  }

  @Override
  public long overshoot() {
    return rounds.stream().mapToLong(RoundResult::overshootUnits).sum();
  }

  @Override
  public List<String> problems() {
    return rounds.stream().flatMap(round -> round.problems().stream()).toList();
  }

  /** How often each kind of fault happened. */
  public Map<String, Integer> kinds() {
    Map<String, Integer> kinds = new TreeMap<>();
    for (RoundResult round : rounds) {
      round.happened().forEach(each -> kinds.merge(each.fault().kind(), 1, Integer::sum));
    }
    return kinds;
  }

  /** Units of each window in which nothing went wrong. */
  public List<Long> quietWindows() {
    return rounds.stream().flatMap(round -> round.quietWindows().stream()).toList();
  }

  /** Distinct keys of floods. */
  public long floodedKeys() {
    return rounds.stream().mapToLong(RoundResult::floodedKeys).sum();
  }

  @Override
  public String markdown() {
    StringBuilder text =
        new StringBuilder(
            "| coordinator | faults | admitted beyond the limit | utilization | requests | failed |"
                + " unanswered in 5 s | lost units | flooded keys |\n"
                + "|---|---|---|---|---|---|---|---|---|\n");
    rounds.forEach(round -> text.append(round.row()).append('\n'));
    text.append("\nfaults: ").append(kinds());
    problems().forEach(problem -> text.append("\nproblem: ").append(problem));
    return text.append("\nrepeat with --seed ").append(seed).toString();
  }

  @Override
  public String json() {
    long requests = rounds.stream().mapToLong(RoundResult::requests).sum();
    long failed = rounds.stream().mapToLong(RoundResult::failed).sum();
    long lost = rounds.stream().mapToLong(RoundResult::lost).sum();
    double utilization =
        rounds.stream().mapToDouble(RoundResult::utilization).average().orElse(Double.NaN);
    return String.format(
        Locale.ROOT,
        "{\"seed\":%d,\"rounds\":%d,\"faults\":%d,\"overshoot\":%d,\"problems\":%d,"
            + "\"utilization\":%.4f,\"requests\":%d,\"failed\":%d,\"lost\":%d,\"flooded_keys\":%d}",
        seed,
        rounds.size(),
        kinds().values().stream().mapToInt(Integer::intValue).sum(),
        overshoot(),
        problems().size(),
        Double.isFinite(utilization) ? utilization : 0,
        requests,
        failed,
        lost,
        floodedKeys());
  }
}
