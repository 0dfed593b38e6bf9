package io.throttlekit.bench.chaos;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Result of a campaign.
 *
 * @param time planned duration, which together with the seed repeats the campaign
 */
public record CampaignReport(long seed, Duration time, List<RoundResult> rounds) implements Report {

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

  @Override
  public List<String> unjudged() {
    return rounds.stream().flatMap(round -> round.unjudged().stream()).toList();
  }

  /** Returns the number of faults of each kind. */
  public Map<String, Integer> kinds() {
    Map<String, Integer> kinds = new TreeMap<>();
    for (RoundResult round : rounds) {
      round.happened().forEach(each -> kinds.merge(each.fault().kind(), 1, Integer::sum));
    }
    return kinds;
  }

  /** Returns descriptions of the extent of each fault of a kind. */
  public List<String> extents(String kind) {
    return rounds.stream()
        .flatMap(round -> round.happened().stream())
        .filter(each -> each.fault().kind().equals(kind))
        .map(FaultResult::extent)
        .toList();
  }

  /** Returns the units of each window without faults that rounds were checked by. */
  public List<Long> judgedWindows() {
    return rounds.stream().flatMap(round -> round.judgedWindows().stream()).toList();
  }

  /** Returns the number of distinct keys of floods that were answered. */
  public long floodedKeys() {
    return rounds.stream().mapToLong(RoundResult::floodedKeys).sum();
  }

  @Override
  public String repeat() {
    return "bin/bench chaos --minutes " + time.toMinutes() + " --seed " + seed;
  }

  @Override
  public String markdown() {
    StringBuilder text = new StringBuilder(RoundResult.head());
    rounds.forEach(round -> text.append(round.row()).append('\n'));
    text.append("\nfaults: ").append(kinds());
    problems().forEach(problem -> text.append("\nproblem: ").append(problem));
    unjudged().forEach(why -> text.append("\nproblem: ").append(why));
    return text.append("\nrepeat: ").append(repeat()).toString();
  }

  @Override
  public String json() {
    double utilization =
        rounds.stream().mapToDouble(RoundResult::utilization).average().orElse(Double.NaN);
    return String.format(
        Locale.ROOT,
        "{\"seed\":%d,\"rounds\":%d,\"faults\":%d,\"overshoot\":%d,\"problems\":%d,"
            + "\"utilization\":%.4f,\"requests\":%d,\"failed\":%d,\"late\":%d,\"held_back\":%d,"
            + "\"not_sent\":%d,\"unanswered\":%d,\"lost\":%d,\"lost_without_fault\":%d,"
            + "\"flooded_keys\":%d}",
        seed,
        rounds.size(),
        kinds().values().stream().mapToInt(Integer::intValue).sum(),
        overshoot(),
        problems().size(),
        Double.isFinite(utilization) ? utilization : 0,
        sum(round -> round.requests().requests()),
        sum(round -> round.requests().failed()),
        sum(round -> round.requests().late()),
        sum(round -> round.requests().heldBack()),
        sum(round -> round.requests().behind()),
        sum(round -> round.requests().unanswered()),
        sum(RoundResult::lost),
        sum(RoundResult::lostWithoutFault),
        floodedKeys());
  }

  private long sum(ToLongFunction<RoundResult> figure) {
    return rounds.stream().mapToLong(figure).sum();
  }
}
