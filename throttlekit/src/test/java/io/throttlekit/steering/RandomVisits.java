package io.throttlekit.steering;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Visit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Visits of some replicas that publish, report, leave, return after their lease, and present
 * records of any epoch. The same for the same seed and answers.
 */
final class RandomVisits {
  private static final List<String> IDS = List.of("a", "b", "c 1 2 ", "\n'é\"😀");
  private static final List<String> TEXTS =
      List.of("", "x", " 1 2", "\n'é\"😀;", "long ".repeat(900));

  private final SplittableRandom random;
  private final ManualTime clock;
  private final List<Long> epochs = new ArrayList<>();
  private final Map<String, Record> known = new HashMap<>();
  private final Map<Reached, Integer> reached = new EnumMap<>(Reached.class);
  private String steering = "";
  private int quiet; // visits without the steering replica

  private enum Reached {
    PUBLISHED,
    REFUSED,
    NEWER,
    DELIVERED,
    DROPPED,
    NO_HOLDER,
    EPOCH
  }

  RandomVisits(long seed, ManualTime clock) {
    this.random = new SplittableRandom(seed);
    this.clock = clock;
  }

  /** Advances the clock, and returns the next visit. */
  Visit next() {
    advance();
    String replica = IDS.get(random.nextInt(IDS.size()));
    if (quiet > 0) {
      quiet--;
      while (replica.equals(steering)) {
        replica = IDS.get(random.nextInt(IDS.size()));
      }
    } else if (random.nextInt(100) == 0) {
      quiet = random.nextInt(150);
    }
    long incarnation = random.nextInt(8) == 0 ? Long.MAX_VALUE : -5;
    boolean reports = quiet > 0 || random.nextBoolean();
    String report = reports ? TEXTS.get(random.nextInt(TEXTS.size())) : "";
    Record has = random.nextInt(6) == 0 ? null : known.get(replica);
    return new Visit(
        replica,
        incarnation,
        report,
        has == null ? 0 : has.epoch(),
        has == null ? 0 : has.version(),
        record(),
        random.nextInt(12) == 0);
  }

  private void advance() {
    if (quiet > 0) {
      clock.advance(random.nextInt(20));
      return;
    }
    switch (random.nextInt(30)) {
      case 0 -> clock.advance(SteeringExchange.LEASE_MILLIS + random.nextInt(-1, 2));
      case 1 -> clock.advance(SteeringExchange.KEPT_MILLIS + random.nextInt(-1, 2));
      case 2 -> clock.advance(SteeringExchange.RENEW_MILLIS + random.nextInt(-1, 2));
      default -> clock.advance(random.nextInt(120));
    }
  }

  /** Returns a record of one of the last epochs, mostly of the last one; or null. */
  private @Nullable Record record() {
    if (epochs.isEmpty() || random.nextInt(3) == 0) {
      return null;
    }
    int back = random.nextInt(5) == 0 ? random.nextInt(Math.min(3, epochs.size())) : 0;
    long epoch = epochs.get(epochs.size() - 1 - back);
    return new Record(epoch, 1 + random.nextInt(40), TEXTS.get(random.nextInt(TEXTS.size())));
  }

  /** Notifies of the answer to a visit. */
  void answered(Visit visit, Answer answer) {
    steering = answer.steering();
    Record brought = visit.record();
    Record newer = answer.published() ? brought : answer.record();
    if (newer != null) {
      known.put(visit.replica(), newer);
    }
    if (answer.epoch() > 0 && !epochs.contains(answer.epoch())) {
      epochs.add(answer.epoch());
      count(Reached.EPOCH, true);
    }
    count(Reached.PUBLISHED, answer.published());
    count(Reached.REFUSED, answer.epoch() > 0 && brought != null && !answer.published());
    count(Reached.NEWER, answer.record() != null);
    count(Reached.DELIVERED, answer.reports().size() > 1);
    count(Reached.DROPPED, answer.dropped() > 0);
    count(Reached.NO_HOLDER, steering.isEmpty());
  }

  private void count(Reached kind, boolean is) {
    reached.merge(kind, is ? 1 : 0, Integer::sum);
  }

  void assertThatAllWasReached() {
    assertThat(reached).hasSize(Reached.values().length);
    assertThat(reached).allSatisfy((_, times) -> assertThat(times).isGreaterThan(1));
  }
}
