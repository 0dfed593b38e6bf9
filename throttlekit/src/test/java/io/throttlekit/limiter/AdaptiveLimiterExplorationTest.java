package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.explore.Subject;
import io.throttlekit.limit.Sample;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All orders of events at a limiter with a limit from 1 to 3 and four requests. */
@Tag("exploration")
class AdaptiveLimiterExplorationTest {
  private static final long MILLI = 1_000_000;
  private static final long MAX_STATES = 60_000;

  /** A fault beside the limiter that an exploration must find. */
  enum Defect {
    NONE,
    RELEASE_LOST,
    CANCELLATION_LOST,
    TIMER_LOST,
    NOTIFIED_TWICE,
    SAMPLES_LOST
  }

  private static final String ACCOUNTED = "acquired = released + live";
  private static final String QUEUED = "the queue holds the requests that wait";
  private static final String IN_TIME = "no request waits beyond its timeout";
  private static final String ONCE = " is notified once";

  @Test
  void permitsAreAccountedForAndNoRequestWaitsInVainInEveryOrder() {
    Set<String> reached = new HashSet<>();
    Exploration seen = explore(Defect.NONE, reached);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).as("states").isGreaterThan(1_000);
    assertThat(reached)
        .contains(
            "admitted at once",
            "admitted from the queue",
            "refused: QUEUE_FULL",
            "refused: WAITED_TOO_LONG",
            "cancelled",
            "tried in vain",
            "limit: 1",
            "limit: 3",
            "more in flight than the limit");
  }

  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource({
    "RELEASE_LOST, " + ACCOUNTED,
    "CANCELLATION_LOST, " + QUEUED,
    "TIMER_LOST, " + IN_TIME,
    "NOTIFIED_TWICE, a" + ONCE
  })
  void findsADefect(Defect defect, String broken) {
    assertThat(explore(defect, new HashSet<>()).broken()).isEqualTo(broken);
  }

  @Test
  void missesEventsOfALimitThatNeverMoves() {
    Set<String> reached = new HashSet<>();
    explore(Defect.SAMPLES_LOST, reached);
    assertThat(reached)
        .contains("limit: 2")
        .doesNotContain("limit: 1", "limit: 3", "more in flight than the limit");
  }

  private static Exploration explore(Defect defect, Set<String> reached) {
    return Explorer.explore(new Replay<>(() -> new Limiter(defect, reached)), MAX_STATES);
  }

  private static final class Limiter implements Subject<String> {
    private static final List<String> NAMES = List.of("a", "b", "c", "d");

    private static final int TIMEOUT = 2; // of a queued request, in steps of the clock

    private final Defect defect;
    private final Set<String> reached;
    private final ManualTime time = new ManualTime(0);
    private final ManualScheduler timer = new ManualScheduler(time);
    private final AdaptiveLimiter limiter =
        AdaptiveLimiter.of(TestLimits.movable(1, 3, 2))
            .queueing(new Queueing(1, 1, 10 * MILLI))
            .time(time, timer)
            .build();

    /** The result of each request, or that it waits. */
    private final Map<String, String> outcomes = new TreeMap<>();

    private final Map<String, Permit> held = new LinkedHashMap<>();
    private final Map<String, PendingPermit> waiting = new LinkedHashMap<>();
    private final Map<String, Integer> since = new TreeMap<>();
    private int admissions;
    private int ends;
    private int clock;
    private @Nullable String broken;

    Limiter(Defect defect, Set<String> reached) {
      this.defect = defect;
      this.reached = reached;
    }

    @Override
    public List<String> enabled() {
      List<String> events = new ArrayList<>();
      NAMES.stream()
          .filter(name -> !outcomes.containsKey(name))
          .findFirst()
          .ifPresent(name -> {
            events.add("ask " + name);
            events.add("try " + name);
          });
      held.keySet().forEach(name -> events.add("end " + name));
      waiting.keySet().forEach(name -> events.add("cancel " + name));
      events.add("grow");
      events.add("shrink");
      if (clock < 4) {
        events.add("later");
      }
      return events;
    }

    @Override
    public void apply(String event) {
      String name = event.substring(event.indexOf(' ') + 1);
      switch (event.substring(0, 3)) {
        case "ask" -> submit(name);
        case "try" -> {
          Permit permit = limiter.tryAcquire();
          if (permit == null) {
            outcomes.put(name, "refused");
            reached.add("tried in vain");
          } else {
            admitted(name, permit);
          }
        }
        case "end" -> end(name);
        case "can" -> cancel(name);
        case "gro" -> learn(TestLimits.GROW);
        case "shr" -> learn(TestLimits.SHRINK);
        default -> {
          clock++;
          time.advance(5);
          if (defect != Defect.TIMER_LOST) {
            timer.run();
          }
        }
      }
      look();
    }

    private void learn(Sample sample) {
      if (defect != Defect.SAMPLES_LOST) {
        limiter.learn(sample);
      }
    }

    private void submit(String name) {
      PendingPermit handle =
          limiter.acquire(
              PermitRequest.PLAIN,
              new PermitCallback() {
                @Override
                public void admitted(Permit permit) {
                  Limiter.this.admitted(name, permit);
                  if (defect == Defect.NOTIFIED_TWICE) {
                    Limiter.this.admitted(name, permit);
                  }
                }

                @Override
                public void refused(Refusal why) {
                  reached.add("refused: " + why);
                  record(name, why.name());
                }
              });
      if (!outcomes.containsKey(name)) {
        outcomes.put(name, "waits since " + clock);
        waiting.put(name, handle);
        since.put(name, clock);
      }
    }

    private void admitted(String name, Permit permit) {
      admissions++;
      if (limiter.figures().inFlight() > limiter.figures().limit()) {
        broken = "no request is admitted above the limit";
      }
      reached.add(waiting.containsKey(name) ? "admitted from the queue" : "admitted at once");
      record(name, "admitted");
      held.put(name, permit);
    }

    private void record(String name, String what) {
      String before = outcomes.put(name, what);
      if (before != null && !before.startsWith("waits")) {
        broken = name + ONCE;
      }
      waiting.remove(name);
    }

    private void end(String name) {
      Permit permit = held.remove(name);
      outcomes.put(name, "ended");
      if (permit != null) {
        ends++;
        if (defect != Defect.RELEASE_LOST) {
          permit.release();
          permit.release(); // has no effect
        }
      }
    }

    private void cancel(String name) {
      PendingPermit handle = waiting.remove(name);
      outcomes.put(name, "cancelled");
      reached.add("cancelled");
      if (handle != null && defect != Defect.CANCELLATION_LOST && !handle.cancel()) {
        broken = "a request that waits can be cancelled";
      }
    }

    private void look() {
      LimiterFigures now = limiter.figures();
      reached.add("limit: " + now.limit());
      if (now.inFlight() > now.limit()) {
        reached.add("more in flight than the limit");
      }
      if (broken != null) {
        return;
      }
      if (now.inFlight() != held.size() || admissions != ends + held.size()) {
        broken = ACCOUNTED;
      } else if (now.queued() != waiting.size()) {
        broken = QUEUED;
      } else if (now.queued() > 0 && now.inFlight() < now.limit()) {
        broken = "no request waits while there is room";
      } else if (now.queued() > 0 && timer.size() == 0) {
        broken = "a timer runs while a request waits";
      } else if (waiting.keySet().stream()
          .anyMatch(each -> clock - since.getOrDefault(each, clock) >= TIMEOUT)) {
        broken = IN_TIME;
      }
    }

    @Override
    public Object snapshot() {
      return List.of(
          outcomes.toString(),
          held.keySet().toString(),
          waiting.keySet().toString(),
          limiter.figures(),
          clock,
          timer.due(-1).toString());
    }

    @Override
    public @Nullable String broken() {
      return broken;
    }
  }
}
