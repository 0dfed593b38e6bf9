package io.throttlekit.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.explore.Exploration;
import io.throttlekit.explore.Explorer;
import io.throttlekit.explore.Replay;
import io.throttlekit.explore.Subject;
import io.throttlekit.limit.TestLimits;
import io.throttlekit.tier.ManualTimer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** All orders of events at a limiter with a limit from 1 to 3 and four requests. */
@Tag("exploration")
class AdaptiveLimiterExplorationTest {
  private static final long MILLI = 1_000_000;

  @Test
  void permitsAreAccountedForAndNoRequestWaitsInVainInEveryOrder() {
    Exploration seen = Explorer.explore(new Replay<>(Limiter::new), 60_000);
    assertThat(seen.violation()).isNull();
    assertThat(seen.distinct()).as("states").isGreaterThan(1_000);
  }

  private static final class Limiter implements Subject<String> {
    private static final List<String> NAMES = List.of("a", "b", "c", "d");

    private final ManualTime time = new ManualTime(0);
    private final ManualTimer timer = new ManualTimer(time);
    private final AdaptiveLimiter limiter =
        AdaptiveLimiter.of(TestLimits.movable(1, 3, 2))
            .queueing(new Queueing(1, 1, 10 * MILLI))
            .time(time, timer)
            .build();

    /** The result of each request, or that it waits. */
    private final Map<String, String> outcomes = new TreeMap<>();

    private final Map<String, Permit> held = new LinkedHashMap<>();
    private final Map<String, PendingPermit> waiting = new LinkedHashMap<>();
    private int admissions;
    private int ends;
    private int clock;
    private @Nullable String broken;

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
          } else {
            admitted(name, permit);
          }
        }
        case "end" -> end(name);
        case "can" -> cancel(name);
        case "gro" -> limiter.learn(TestLimits.GROW);
        case "shr" -> limiter.learn(TestLimits.SHRINK);
        default -> {
          clock++;
          time.advance(5);
          timer.run();
        }
      }
      look();
    }

    private void submit(String name) {
      PendingPermit handle =
          limiter.acquire(
              PermitRequest.PLAIN,
              new PermitCallback() {
                @Override
                public void admitted(Permit permit) {
                  Limiter.this.admitted(name, permit);
                }

                @Override
                public void refused(Refusal why) {
                  record(name, why.name());
                }
              });
      if (!outcomes.containsKey(name)) {
        outcomes.put(name, "waits since " + clock);
        waiting.put(name, handle);
      }
    }

    private void admitted(String name, Permit permit) {
      admissions++;
      if (limiter.figures().inFlight() > limiter.figures().limit()) {
        broken = "nobody is let in above the limit";
      }
      record(name, "admitted");
      held.put(name, permit);
    }

    private void record(String name, String what) {
      String before = outcomes.put(name, what);
      if (before != null && !before.startsWith("waits")) {
        broken = name + " is told once";
      }
      waiting.remove(name);
    }

    private void end(String name) {
      Permit permit = held.remove(name);
      outcomes.put(name, "ended");
      if (permit != null) {
        ends++;
        permit.release();
        permit.release();
      }
    }

    private void cancel(String name) {
      PendingPermit handle = waiting.remove(name);
      outcomes.put(name, "cancelled");
      if (handle != null && !handle.cancel()) {
        broken = "who waits can cancel";
      }
    }

    private void look() {
      LimiterFigures now = limiter.figures();
      if (now.inFlight() != held.size() || admissions != ends + held.size()) {
        broken = "acquired = released + live";
      } else if (now.queued() != waiting.size()) {
        broken = "in the queue are those who wait";
      } else if (now.queued() > 0 && now.inFlight() < now.limit()) {
        broken = "nobody waits while there is room";
      } else if (now.queued() > 0 && timer.size() == 0) {
        broken = "a timer runs while somebody waits";
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
