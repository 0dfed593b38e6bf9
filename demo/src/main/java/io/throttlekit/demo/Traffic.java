package io.throttlekit.demo;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * Sends requests at a constant rate, independent of responses, until it is closed.
 *
 * <p>Requests are drawn at random by weight, in the same order for the same seed.
 */
final class Traffic implements AutoCloseable {
  private static final int PER_SECOND = 40;

  private final RequestSender sender;
  private final Counts counts;
  private final Function<DemoRequest, String> ruleOf;
  private final List<DemoRequest> mix;
  private final RandomGenerator random;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("traffic").factory());

  Traffic(
      RequestSender sender,
      Counts counts,
      Function<DemoRequest, String> ruleOf,
      List<DemoRequest> mix,
      long seed) {
    this.sender = sender;
    this.counts = counts;
    this.ruleOf = ruleOf;
    this.mix = mix;
    this.random = new SplittableRandom(seed);
  }

  void start() {
    var _ =
        clock.scheduleAtFixedRate(
            this::send, 0, TimeUnit.SECONDS.toNanos(1) / PER_SECOND, TimeUnit.NANOSECONDS);
  }

  private void send() {
    DemoRequest request = next();
    sender.send(
        request,
        answer -> {
          if (!stopped.get()) { // requests aborted at the end have not failed
            counts.add(ruleOf.apply(request), answer);
          }
        });
  }

  private DemoRequest next() {
    int ticket = random.nextInt(mix.stream().mapToInt(DemoRequest::weight).sum());
    for (DemoRequest request : mix) {
      ticket -= request.weight();
      if (ticket < 0) {
        return request;
      }
    }
    throw new IllegalStateException("weights do not add up");
  }

  @Override
  public void close() {
    stopped.set(true);
    clock.shutdownNow();
    sender.close();
  }
}
