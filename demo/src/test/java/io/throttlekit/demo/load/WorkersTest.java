package io.throttlekit.demo.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.load.Workers.Job;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.junit.jupiter.api.Test;

class WorkersTest {
  private static final long SERVICE = 40;

  private final VirtualTime time = new VirtualTime();
  private final Workers workers = new Workers(2, () -> SERVICE, time::at, time);
  private final List<String> answers = new ArrayList<>();

  @Test
  void servesOneRequestPerWorkerAndQueuesTheRestInOrder() {
    List.of("a", "b", "c", "d", "e").forEach(this::accept);
    assertThat(workers.waiting()).isEqualTo(3);
    time.goTo(1_000);
    assertThat(answers).containsExactly("a@40", "b@40", "c@80", "d@80", "e@120");
    assertThat(workers.served()).isEqualTo(5);
    assertThat(workers.waiting()).isZero();
  }

  @Test
  void lateTimersDoNotSlowWorkersOnAverage() {
    time.lateBy(7);
    List.of("a", "b", "c", "d", "e", "f").forEach(this::accept);
    time.goTo(1_000);
    assertThat(answers).containsExactly("a@47", "b@47", "c@87", "d@87", "e@127", "f@127");
  }

  @Test
  void servesAbandonedJobsWithoutAnswering() {
    accept("a");
    accept("b");
    Job left = accept("c");
    accept("d");
    accept("e");
    left.leave();
    time.goTo(1_000);
    assertThat(answers).containsExactly("a@40", "b@40", "d@80", "e@120");
    assertThat(workers.served()).isEqualTo(5);
  }

  @Test
  void dropsOnlyAbandonedJobs() {
    accept("a");
    accept("b");
    Job left = accept("c");
    accept("d");
    accept("e");
    left.leave();
    workers.removeAbandoned();
    assertThat(workers.waiting()).isEqualTo(2);
    time.goTo(1_000);
    assertThat(answers).containsExactly("a@40", "b@40", "d@80", "e@80");
    assertThat(workers.served()).isEqualTo(4);
  }

  @Test
  void removedWorkersFinishTheirJobAndAddedOnesStartAtOnce() {
    List.of("a", "b", "c", "d", "e", "f", "g").forEach(this::accept);
    workers.employ(1);
    time.goTo(90);
    assertThat(answers).containsExactly("a@40", "b@40", "c@80");
    workers.employ(3);
    time.goTo(1_000);
    assertThat(answers.subList(3, 7)).containsExactly("d@120", "e@130", "f@130", "g@160");
  }

  private Job accept(String name) {
    return workers.accept(() -> answers.add(name + "@" + time.monotonicNanos()));
  }

  /** A virtual clock that a test advances, and that runs the tasks due on the way. */
  private static final class VirtualTime implements TimeSource {
    private final PriorityQueue<Due> due =
        new PriorityQueue<>(Comparator.comparingLong(Due::nanos).thenComparingLong(Due::place));
    private long now;
    private long late;
    private long place;

    private record Due(long nanos, long place, Runnable what) {}

    void lateBy(long nanos) {
      late = nanos;
    }

    void at(long nanos, Runnable what) {
      due.add(new Due(nanos + late, place++, what));
    }

    void goTo(long nanos) {
      for (Due next = due.peek(); next != null && next.nanos <= nanos; next = due.peek()) {
        due.remove();
        now = next.nanos;
        next.what.run();
      }
      now = nanos;
    }

    @Override
    public long wallMillis() {
      return now / 1_000_000;
    }

    @Override
    public long monotonicNanos() {
      return now;
    }
  }
}
