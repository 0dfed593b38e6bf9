package io.throttlekit.demo.fleet;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Backend;
import io.throttlekit.demo.load.Client;
import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.InFlight;
import io.throttlekit.demo.load.OpenLoad;
import io.throttlekit.demo.load.Workers;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.net.EventLoops;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import java.util.function.LongSupplier;

/**
 * An upstream with workers, and an open load on it through the Envoys of a fleet, to each according
 * to its weight.
 *
 * <p>The upstream runs from the beginning, the load from {@link #start}.
 */
final class FleetLoad {
  private static final int ARRIVALS = 1; // random streams of their own
  private static final int CHOICES = 3;

  /** One event loop for all clients, one for the upstream. */
  private static final int LOOPS = 2;

  private final EventLoop clients;
  private final Backend upstream;
  private final TimeSource time;
  private final CountDownLatch stop = new CountDownLatch(1);
  private long startNanos;

  private FleetLoad(EventLoop clients, Backend upstream, TimeSource time) {
    this.clients = clients;
    this.upstream = upstream;
    this.time = time;
  }

  /**
   * A load.
   *
   * @param seconds longest duration
   * @param perSecond arrivals in a second of the course
   * @param good time within which a response counts as good
   * @param timeout of clients
   */
  record Arrivals(
      int seconds, IntToDoubleFunction perSecond, Duration good, Duration timeout, long seed) {}

  /**
   * Starts the upstream.
   *
   * @param workers number of requests that it serves at once
   * @param serviceNanos draws a service time
   */
  static FleetLoad begin(int workers, LongSupplier serviceNanos, TimeSource time, Undo started)
      throws IOException {
    EventLoopGroup loops = EventLoops.of(LOOPS);
    started.push(() -> loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly());
    EventLoop upstreams = loops.next();
    Workers all =
        new Workers(
            workers,
            serviceNanos,
            (nanos, what) -> {
              var _ = upstreams.schedule(what, nanos - time.monotonicNanos(), NANOSECONDS);
            },
            time);
    return new FleetLoad(loops.next(), Backend.start(all, upstreams), time);
  }

  /** Returns the port of the upstream. */
  int port() {
    return upstream.port();
  }

  /** Returns the count of requests at the upstream. */
  InFlight inFlight() {
    return upstream.inFlight();
  }

  /** Starts the load. Returns what records the outcomes of its requests, by second. */
  Course start(List<FleetEnvoy> envoys, Arrivals arrivals) {
    Course course = new Course(arrivals.seconds(), arrivals.good(), arrivals.timeout());
    List<Client> each = new ArrayList<>(); // an Envoy as often as its weight
    for (FleetEnvoy envoy : envoys) {
      Client client = new Client(envoy.process().port(), clients, arrivals.timeout(), course, time);
      for (int i = 0; i < envoy.weight(); i++) {
        each.add(client);
      }
    }
    Chance choice = new Chance(arrivals.seed(), CHOICES);
    OpenLoad load =
        new OpenLoad(
            clients,
            new Chance(arrivals.seed(), ARRIVALS),
            arrivals.seconds(),
            arrivals.perSecond(),
            (second, intended) ->
                each.get((int) (choice.uniform() * each.size())).send(second, intended),
            arrivals.timeout(),
            time);
    startNanos = time.monotonicNanos();
    load.start(startNanos);
    return course;
  }

  /** Returns the second of the course. */
  int second() {
    return (int) ((time.monotonicNanos() - startNanos) / 1_000_000_000L);
  }

  /** Waits for a second of the course. Returns whether it came before {@link #stop}. */
  boolean await(int second) throws InterruptedException {
    long left = startNanos + second * 1_000_000_000L - time.monotonicNanos();
    return !stop.await(Math.max(left, 0), NANOSECONDS);
  }

  /** Ends every {@link #await}. Thread-safe. */
  void stop() {
    stop.countDown();
  }
}
