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

  SimulatedLink(SimulatedWorld world, SplittableRandom random, Weather weather) {
    this.world = world;
    this.random = random;
    this.weather = weather;
  }

  void cut(boolean now) {
    cut = now;
  }

  <T> CompletionStage<T> call(Supplier<CompletionStage<T>> far) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    world.after(
        weather.deadlineNanos(),
        () -> answer.completeExceptionally(new StoreException("no answer in time", null)));
    send(() -> arrive(far, answer));
    if (random.nextDouble() < weather.twice()) {
      send(() -> arrive(far, answer));
    }
    return answer;
  }

  private <T> void arrive(Supplier<CompletionStage<T>> far, CompletableFuture<T> answer) {
    far.get()
        .whenComplete((value, failure) ->
            send(() -> {
              if (failure == null) {
                answer.complete(value);
              } else {
                answer.completeExceptionally(failure);
              }
            }));
  }

  private void send(Runnable arrival) {
    boolean lost = cut || random.nextDouble() < weather.loss();
    long delay = weather.delayNanos() + random.nextLong(weather.jitterNanos() + 1);
    world.after(
        delay,
        () -> {
          if (!lost && !cut) {
            arrival.run();
          }
        });
  }
}
