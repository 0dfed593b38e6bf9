package io.throttlekit.demo.overload;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of an overload run.
 *
 * @param schedule phases
 * @param arms at least one; they run side by side
 * @param seed of arrivals and service times
 */
public record OverloadPlan(Schedule schedule, Set<Limiter> arms, long seed) {
  private static final int MAX_SECONDS = 3600; // seconds, an hour

  /** Copies the arms in their canonical order. */
  public OverloadPlan {
    arms = EnumSet.copyOf(arms);
  }

  /**
   * Parses command line options.
   *
   * @param phases names separated by commas; null for all
   * @param arms names separated by commas; null for all
   * @param seconds of all phases together; null for 90 each
   * @throws IllegalArgumentException with a one-line message for users, if an option is not valid
   */
  public static OverloadPlan of(
      @Nullable String phases, @Nullable String arms, @Nullable String seconds, long seed) {
    List<Phase> chosen = phases == null ? Phase.ALL : Phase.named(phases);
    return new OverloadPlan(
        new Schedule(chosen, length(seconds, chosen.size())),
        arms == null ? EnumSet.allOf(Limiter.class) : Limiter.named(arms),
        seed);
  }

  private static int length(@Nullable String seconds, int phases) {
    if (seconds == null) {
      return Schedule.USUAL;
    }
    int fewest = phases * Schedule.SHORTEST;
    if (seconds.matches("\\d{1,6}")) {
      int all = Integer.parseInt(seconds);
      if (all >= fewest && all <= MAX_SECONDS) {
        return all / phases;
      }
    }
    throw new IllegalArgumentException(
        "--seconds is a whole number from %d to %d for %s, not '%s'"
            .formatted(
                fewest, MAX_SECONDS, phases == 1 ? "one phase" : phases + " phases", seconds));
  }
}
