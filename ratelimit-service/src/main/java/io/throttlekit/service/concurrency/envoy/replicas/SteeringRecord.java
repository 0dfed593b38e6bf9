package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.ClusterLimit.Priority;
import io.throttlekit.envoy.xds.SharePlan;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the steering replica publishes: the shares of all Envoys, and what its limit algorithms have
 * learned, so that those of a successor continue. The text is a line for each learned limit, after
 * their number, and then that of the plan.
 *
 * @param plan shares of all Envoys
 * @param learned by limit
 */
public record SteeringRecord(SharePlan plan, Map<ClusterLimit, Learned> learned) {
  /** Before the first one. */
  public static final SteeringRecord EMPTY = new SteeringRecord(SharePlan.EMPTY, Map.of());

  private static final int MAX_LIMITS = 10_000;
  private static final int FIELDS = 4;

  /** Copies the map. */
  public SteeringRecord {
    learned = Map.copyOf(learned);
  }

  /**
   * State of a limit algorithm.
   *
   * @param limit without the decrease of a measurement, from 0
   * @param baselineNanos latency without a queue; 0 if it is not known
   */
  public record Learned(int limit, long baselineNanos) {}

  /** Returns the text for the exchange. */
  public String text() {
    StringBuilder text = new StringBuilder();
    int count = 0;
    for (Map.Entry<ClusterLimit, Learned> each : learned.entrySet()) {
      ClusterLimit limit = each.getKey();
      // Without it, its algorithm only has to learn anew.
      if (limit.cluster().chars().noneMatch(Character::isISOControl) && count < MAX_LIMITS) {
        text.append(limit.priority())
            .append(' ')
            .append(each.getValue().limit())
            .append(' ')
            .append(each.getValue().baselineNanos())
            .append(' ')
            .append(limit.cluster())
            .append('\n');
        count++;
      }
    }
    return count + "\n" + text + plan.text();
  }

  /**
   * Returns the record of a text.
   *
   * @param version of the text in the exchange
   * @throws IllegalArgumentException when the text is not one of {@link #text}
   */
  public static SteeringRecord parse(String text, long version) {
    int at = text.indexOf('\n') + 1;
    int count = at == 0 ? -1 : Integer.parseInt(text, 0, at - 1, 10);
    if (count < 0 || count > MAX_LIMITS) {
      throw new IllegalArgumentException("the record names no number of limits");
    }
    Map<ClusterLimit, Learned> learned = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      int end = text.indexOf('\n', at);
      if (end < 0) {
        throw new IllegalArgumentException("the record has fewer limits than it names");
      }
      String[] fields = text.substring(at, end).split(" ", FIELDS);
      at = end + 1;
      if (fields.length < FIELDS) {
        throw new IllegalArgumentException("a limit of the record is incomplete");
      }
      Learned of = new Learned(Integer.parseInt(fields[1]), Long.parseLong(fields[2]));
      if (of.limit < 0 || of.baselineNanos < 0) {
        throw new IllegalArgumentException("a limit of the record is negative");
      }
      learned.put(new ClusterLimit(fields[3], Priority.valueOf(fields[0])), of);
    }
    return new SteeringRecord(SharePlan.parse(text.substring(at), version), learned);
  }
}
