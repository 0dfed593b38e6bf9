package io.throttlekit.federation;

import io.throttlekit.store.StoreException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A network between two hosts: calls and answers take their time, get lost, or come twice, and
 * sometimes nothing comes through.
 */
final class SimulatedLink {
  private final SimulatedWorld world;
  private final SplittableRandom random;
  private final Weather weather;
  private boolean cut;

  /**
   * What to expect.
   *
   * @param delayNanos one way, at least
   * @param jitterNanos and at most so much more
   * @param loss probability that a message is lost
   * @param twice probability that a call arrives twice
   * @param deadlineNanos after which a call fails
   */
  record Weather(
      long delayNanos, long jitterNanos, double loss, double twice, long deadlineNanos) {}

  /** What became of calls and answers, to see that a run was worth it. */
  static final class Fate {
    long lost;
    long answersLost;
    long twice;

    /** Of what was lost, while nothing came through. */
    long cut;
  }

  SimulatedLink(SimulatedWorld world, SplittableRandom random, Weather weather) {
    this.world = world;
    this.random = random;
    this.weather = weather;
  }

  void cut(boolean now) {
    cut = now;
  }

  <T> CompletionStage<T> call(Fate fate, Supplier<CompletionStage<T>> far) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    world.after(
        weather.deadlineNanos(),
        () -> answer.completeExceptionally(new StoreException("no answer in time", null)));
    call(fate, far, answer);
    return answer;
  }

  /** A call that fails by no deadline: one that is lost, or whose answer is, never ends. */
  <T> CompletionStage<T> callPatiently(Fate fate, Supplier<CompletionStage<T>> far) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    call(fate, far, answer);
    return answer;
  }

  private <T> void call(Fate fate, Supplier<CompletionStage<T>> far, CompletableFuture<T> answer) {
    Runnable lost = () -> fate.lost++;
    send(fate, lost, () -> arrive(fate, far, answer));
    if (random.nextDouble() < weather.twice()) {
      fate.twice++;
      send(fate, lost, () -> arrive(fate, far, answer));
    }
  }

  private <T> void arrive(
      Fate fate, Supplier<CompletionStage<T>> far, CompletableFuture<T> answer) {
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

  private void send(Fate fate, Runnable loss, Runnable arrival) {
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
