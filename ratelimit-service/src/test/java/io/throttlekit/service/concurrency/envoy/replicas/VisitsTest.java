package io.throttlekit.service.concurrency.envoy.replicas;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.service.concurrency.envoy.replicas.Visits.Visitor;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Visits in the thread of the test and in simulated time; see SteeringFleetTest for replicas. */
class VisitsTest {
  private static final Answer ANSWER = new Answer("a", 0, false, null, List.of(), 0);

  private final ManualTime time = new ManualTime(0);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final List<CompletableFuture<Answer>> sent = new ArrayList<>();
  private final List<Throwable> failed = new ArrayList<>();
  private final Visits visits = new Visits(new Sent(), this::execute, timer, time, new Counting());
  private int answered;
  private int errors;
  private boolean broken;

  private final class Sent implements SteeringExchange {
    @Override
    public CompletionStage<Answer> visit(Visit visit) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      sent.add(answer);
      return answer;
    }

    @Override
    public void close() {}
  }

  private final class Counting implements Visitor {
    @Override
    public Visit next() {
      if (broken) {
        throw new IllegalStateException("broken");
      }
      return new Visit("a", 1, "", 0, 0, null, false);
    }

    @Override
    public boolean answered(Answer answer) {
      answered++;
      return false;
    }

    @Override
    public void failed(Throwable why) {
      failed.add(why);
    }
  }

  /** Even if it is read before the tick that would give the visit up. */
  @Test
  void anAnswerToAVisitOfTwoSecondsAgoIsNotUsed() {
    visits.start();
    visits.soon();
    time.advance(2_000);
    sent.getFirst().complete(ANSWER);
    assertThat(answered).isZero();
    assertThat(failed).hasSize(1);
    pass(100);
    sent.get(1).complete(ANSWER);
    assertThat(answered).isEqualTo(1);
  }

  @Test
  void anErrorIsAFailureAndRepeatedMoreAndMoreSeldom() {
    broken = true;
    visits.start();
    execute(visits::soon);
    pass(10_000);
    assertThat(errors).isBetween(10, 15);
    assertThat(failed).hasSize(errors);
    broken = false;
    pass(1_000);
    assertThat(sent).hasSize(1);
  }

  private void execute(Runnable task) {
    try {
      task.run();
    } catch (IllegalStateException e) { // as a context that logs it
      errors++;
    }
  }

  private void pass(long millis) {
    for (long passed = 0; passed < millis; passed += 10) {
      time.advance(10);
      timer.run();
    }
  }
}
