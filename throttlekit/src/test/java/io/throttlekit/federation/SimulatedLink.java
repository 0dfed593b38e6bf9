package io.throttlekit.federation;

import io.throttlekit.store.StoreException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A simulated network between two hosts: calls and answers are delayed, lost or duplicated, and at
 * times none passes.
 */
final class SimulatedLink {
  private final SimulatedWorld world;
  private final SplittableRandom random;
  private final LinkProperties weather;
  private boolean cut;

  /**
   * The properties of a link.
   *
   * @param delayNanos the shortest delay one way
   * @param jitterNanos the most that is added to it
   * @param loss probability that a message is lost
   * @param twice probability that a call arrives twice
   * @param deadlineNanos after which a call fails
   */
  record LinkProperties(
      long delayNanos, long jitterNanos, double loss, double twice, long deadlineNanos) {}

  /** Counts of events on links, to check that a run includes them. */
  static final class LinkCounts {
    long lost;
    long answersLost;
    long twice;

    /** Lost messages while the link was cut. */
    long cut;
  }

  SimulatedLink(SimulatedWorld world, SplittableRandom random, LinkProperties weather) {
    this.world = world;
    this.random = random;
    this.weather = weather;
  }

  void cut(boolean now) {
    cut = now;
  }

  <T> CompletionStage<T> call(LinkCounts fate, Supplier<CompletionStage<T>> far) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    world.after(
        weather.deadlineNanos(),
        () -> answer.completeExceptionally(new StoreException("no answer in time", null)));
    call(fate, far, answer);
    return answer;
  }

  /** Makes a call without a deadline: it never ends if the call or its answer is lost. */
  <T> CompletionStage<T> callWithoutDeadline(LinkCounts fate, Supplier<CompletionStage<T>> far) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    call(fate, far, answer);
    return answer;
  }

  private <T> void call(
      LinkCounts fate, Supplier<CompletionStage<T>> far, CompletableFuture<T> answer) {
    Runnable lost = () -> fate.lost++;
    send(fate, lost, () -> arrive(fate, far, answer));
    if (random.nextDouble() < weather.twice()) {
      fate.twice++;
      send(fate, lost, () -> arrive(fate, far, answer));
    }
  }

  private <T> void arrive(
      LinkCounts fate, Supplier<CompletionStage<T>> far, CompletableFuture<T> answer) {
    far.get()
        .whenComplete((value, failure) ->
            send(
                fate,
                () -> fate.answersLost++,
                () -> {
                  if (failure == null) {
                    answer.complete(value);
                  } else {
                    answer.completeExceptionally(failure);
                  }
                }));
  }

  private void send(LinkCounts fate, Runnable loss, Runnable arrival) {
    boolean wasCut = cut;
    boolean lost = wasCut || random.nextDouble() < weather.loss();
    long delay = weather.delayNanos() + random.nextLong(weather.jitterNanos() + 1);
    world.after(
        delay,
        () -> {
          if (!lost && !cut) {
            arrival.run();
          } else {
            fate.cut += wasCut || cut ? 1 : 0;
            loss.run();
          }
        });
  }
}
