package io.throttlekit.demo.fair;

import io.throttlekit.demo.fair.FairPlan.Tenant;
import io.throttlekit.demo.fair.FairTally.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Totals of a run.
 *
 * @param seconds that are counted
 * @param limit per second
 * @param most admitted in a second, counted by when requests were sent
 * @param rows by tenant, in the order of the plan
 */
public record FairSummary(int seconds, long limit, long most, List<Row> rows) {

  /** Copies the list. */
  public FairSummary {
    rows = List.copyOf(rows);
  }

  /**
   * Totals of a tenant.
   *
   * @param part guaranteed per second while all tenants are active
   * @param extra admitted beyond the part
   * @param missing the most requests of min(demand, guarantee) that were refused in a second
   */
  record Row(
      Tenant tenant,
      long part,
      long sent,
      long admitted,
      long extra,
      long refused,
      long failed,
      long missing) {

    private Row plus(Figures second) {
      return new Row(
          tenant,
          part,
          sent + second.sent(),
          admitted + second.admitted(),
          extra + second.beyond(part),
          refused + second.refused(),
          failed + second.failed(),
          Math.max(missing, second.missing()));
    }
  }

  /** Creates a summary without seconds. */
  static FairSummary of(FairPolicy policy) {
    List<Row> rows =
        IntStream.range(0, FairPlan.TENANTS.size())
            .mapToObj(i -> new Row(FairPlan.TENANTS.get(i), policy.part(i), 0, 0, 0, 0, 0, 0))
            .toList();
    return new FairSummary(0, policy.limit(), 0, rows);
  }

  /** Returns this summary with one second more. */
  FairSummary plus(List<Figures> second) {
    List<Row> sums = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      sums.add(rows.get(i).plus(second.get(i)));
    }
    long all = second.stream().mapToLong(Figures::admitted).sum();
    return new FairSummary(seconds + 1, limit, Math.max(most, all), sums);
  }

  /** Returns one JSON object on one line. */
  public String json() {
    return "{\"through\":\"envoy\",\"seconds\":%d,\"limit\":%d,\"most\":%d,\"tenants\":[%s]}"
        .formatted(
            seconds,
            limit,
            most,
            rows.stream()
                .map(row ->
                    "{\"tenant\":\"%s\",\"plan\":\"%s\",\"part\":%d,\"sent\":%d,\"admitted\":%d,\"extra\":%d,\"refused\":%d,\"failed\":%d,\"missing\":%d}"
                        .formatted(
                            row.tenant().org(),
                            row.tenant().plan(),
                            row.part(),
                            row.sent(),
                            row.admitted(),
                            row.extra(),
                            row.refused(),
                            row.failed(),
                            row.missing()))
                .collect(Collectors.joining(",")));
  }

  /** Returns sentences for readers. */
  public String words() {
    return rows.stream()
        .map(row ->
            "%s was admitted %d of %d, %d of them extra, and lacked at most %d of its guarantee in a second"
                .formatted(
                    row.tenant().org(), row.admitted(), row.sent(), row.extra(), row.missing()))
        .collect(Collectors.joining("\n"));
  }
}
