package io.throttlekit.bench.chaos;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.Schedule.Planned;
import io.throttlekit.bench.chaos.fault.Fault;
import io.throttlekit.bench.chaos.fault.Stage;
import io.throttlekit.bench.chaos.fleet.Waiting;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** A sequence of faults of a round. */
final class Lane {
  private final List<Planned> planned;
  private final Stage stage;
  private final PrintStream log;
  private final long beginNanos;
  private final TimeSource time = TimeSource.system();
  private final List<FaultResult> happened = new ArrayList<>();

  private final boolean machines;

  private Lane(
      List<Planned> planned, boolean machines, Stage stage, PrintStream log, long beginNanos) {
    this.planned = planned;
    this.machines = machines;
    this.stage = stage;
    this.log = log;
    this.beginNanos = beginNanos;
  }

  /**
   * Runs faults in a thread of its own. A fault that is late begins at once: each happens, however
   * slow the machine is.
   *
   * @param machines whether they are faults of machines, by which units get lost; else of clients
   * @return the faults, once all have ended; or the error
   */
  static CompletableFuture<List<FaultResult>> run(
      List<Planned> planned, boolean machines, Stage stage, PrintStream log) {
    long now = TimeSource.system().monotonicNanos();
    Lane lane = new Lane(planned, machines, stage, log, now);
    return CompletableFuture.supplyAsync(lane::all, task -> Thread.ofVirtual().start(task));
  }

  private List<FaultResult> all() {
    for (int place = 0; place < planned.size(); place++) {
      Planned next = planned.get(place);
      try {
        happened.add(one(next, place + 1 < planned.size() ? planned.get(place + 1) : null));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CompletionException(e);
      } catch (Exception e) {
        throw new CompletionException(next.fault() + ": " + e.getMessage(), e);
      }
      log.println(happened.getLast());
    }
    return happened;
  }

  private FaultResult one(Planned next, @org.jspecify.annotations.Nullable Planned following)
      throws Exception {
    Waiting.untilNanos(beginNanos + TimeUnit.MILLISECONDS.toNanos(next.atMillis()));
    long failedBefore = stage.load().outcomes().figures().failed();
    long lostBefore = lost();
    long began = time.monotonicNanos();
    Fault.Running running = next.fault().begin(stage);
    try {
      Waiting.untilNanos(began + TimeUnit.MILLISECONDS.toNanos(next.lastsMillis()));
    } finally {
      running.end();
    }
    long ended = time.monotonicNanos();
    long until =
        following == null ? next.atMillis() + 2 * next.lastsMillis() : following.atMillis();
    Waiting.untilNanos(beginNanos + TimeUnit.MILLISECONDS.toNanos(until));
    return new FaultResult(
        next.fault(),
        TimeUnit.NANOSECONDS.toMillis(began - beginNanos),
        TimeUnit.NANOSECONDS.toMillis(ended - began),
        stage.load().outcomes().figures().failed() - failedBefore,
        TimeUnit.NANOSECONDS.toMillis(
            stage.load().outcomes().recoveryNanos(next.fault().endsByItself() ? began : ended)),
        lost() - lostBefore,
        running.extent());
  }

  private long lost() {
    return machines ? stage.lost().read() : 0;
  }
}
