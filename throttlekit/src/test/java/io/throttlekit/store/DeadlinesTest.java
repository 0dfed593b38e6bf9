package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
  private final ManualTime time = new ManualTime(0);
  private final Queue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(Task::dueNanos));

  /** What the thread does before a timer's task with an earlier due time. */
  private final Queue<Runnable> unread = new ArrayDeque<>();

  private final List<Call> expired = new ArrayList<>();
  private final List<Long> sweeps = new ArrayList<>();
  private final Deadlines<Call> deadlines =
      new Deadlines<>(
          time,
          (nanos, task) -> tasks.add(new Task(time.monotonicNanos() + nanos, task)),
          expired::add,
          sweeps::add);

  private record Task(long dueNanos, Runnable run) {}

  private static final class Call extends DeadlineWheel.Entry {}

  @Test
  void anAnsweredCallIsReleasedBeforeItsDeadline() {
    deadlines.add(new Call(), millis(60_000));
    for (int i = 0; i < 1_000; i++) {
      Call call = new Call();
      deadlines.add(call, millis(60_000));
      deadlines.remove(call);
    }
    assertThat(deadlines.size()).as("one unanswered call").isEqualTo(1);
  }

  @Test
  void eachCallExpiresAtItsOwnDeadline() {
    Call longer = new Call();
    Call shorter = new Call();
    deadlines.add(longer, millis(1_000));
    deadlines.add(shorter, millis(20));
    passes(19);
    assertThat(expired).isEmpty();
    passes(3);
    assertThat(expired).containsExactly(shorter);
    passes(977);
    assertThat(expired).containsExactly(shorter);
    passes(3);
    assertThat(expired).containsExactly(shorter, longer);
    assertThat(deadlines.size()).isZero();
  }

  @Test
  void whileCallsArePendingItSweepsEvery50Millis() {
    deadlines.add(new Call(), millis(60_000));
    passes(1_000);
    assertThat(sweeps).hasSizeBetween(19, 21);
  }

  @Test
  void withoutCallsItSweepsOnlyOnRequest() {
    Call call = new Call();
    deadlines.add(call, millis(20));
    passes(30);
    int sweepsOfTheCall = sweeps.size();
    passes(200);
    assertThat(sweeps).hasSize(sweepsOfTheCall);
    deadlines.sweepAgain();
    deadlines.sweepAgain();
    passes(200);
    assertThat(sweeps).hasSize(sweepsOfTheCall + 1);
  }

  @Test
  void aReplacedTimerSweepsNothing() {
    for (int i = 40; i > 10; i -= 5) {
      deadlines.add(new Call(), millis(i));
    }
    passes(17);
    assertThat(expired).hasSize(1);
    assertThat(sweeps).hasSizeLessThanOrEqualTo(2);
  }

  @Test
  void aThreadThatWasBusyReadsAnswersBeforeCallsExpire() {
    Call call = new Call();
    deadlines.add(call, millis(20));
    unread.add(() -> deadlines.remove(call));
    time.advance(1_000); // by one long task
    passes(3);
    assertThat(sweeps).isNotEmpty();
    assertThat(expired).isEmpty();
  }

  /** Advances the clock by single milliseconds and runs what is due. */
  private void passes(long millis) {
    for (long i = 0; i < millis; i++) {
      time.advance(1);
      List<Task> due = new ArrayList<>();
      while (!tasks.isEmpty() && tasks.peek().dueNanos() <= time.monotonicNanos()) {
        due.add(tasks.remove());
      }
      due.forEach(task -> task.run().run());
      while (!unread.isEmpty()) { // between tasks that were due and those that they scheduled
        unread.remove().run();
      }
    }
  }

  private long millis(long millis) {
    return time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
