package io.throttlekit.simulator.concurrency;

import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs a plan: arrivals that do not wait for responses, a limiter, an unbounded FIFO queue, and
 * servers.
 *
 * <p>A request whose client timed out leaves the queue, but a server that has begun it finishes it.
 * Servers that are removed finish their requests.
 *
 * <p>Each service time is drawn at arrival, even if the request is refused, so that under the same
 * seed all algorithms receive the same requests.
 */
final class Simulation {
  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final double MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  // Independent random streams: their numbers must differ from those of the other classes.
  private static final int ARRIVALS = 1;
  private static final int LENGTHS = 2;

  private final Plan plan;
  private final SimulatedLimiter limiter;
  private final SimulatedAlgorithm algorithm;
  private final Chance arrivals;
  private final Chance lengths;
  private final Requests requests = new Requests();
  private final Servers servers = new Servers();
  private final Servers wire = new Servers();
  private final Environment environment;
  private final Recorder recorder;
  private final long timeoutNanos;
  private int inFlight;
  private Phase phase;
  private long sent;
  private long nextArrival;

  private Simulation(Plan plan, SimulatedAlgorithm algorithm, SimulatedLimiter limiter, long seed) {
    this.plan = plan;
    this.algorithm = algorithm;
    this.limiter = limiter;
    this.arrivals = new Chance(seed, ARRIVALS);
    this.lengths = new Chance(seed, LENGTHS);
    this.environment = new Environment(plan, seed);
    this.recorder = new Recorder(plan.seconds());
    this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(plan.conditions().timeoutMillis());
    this.phase = plan.phases().getFirst();
  }

  /**
   * Runs the plan. Returns its results.
   *
   * @param limiter applies the limit of {@code algorithm}
   */
  static Course play(Plan plan, SimulatedAlgorithm algorithm, SimulatedLimiter limiter, long seed) {
    return new Simulation(plan, algorithm, limiter, seed).play();
  }

  private Course play() {
    recorder.limit(limiter.limit(), algorithm.isProbing());
    long end = 0;
    List<Phase> phases = plan.phases();
    for (Phase one : phases) {
      phase = one;
      send(end);
      serve(end); // servers may have been added
      end += TimeUnit.SECONDS.toNanos(one.seconds());
      playUntil(end);
    }
    return recorder.finish(plan);
  }

  private void playUntil(long end) {
    while (true) {
      long done = servers.next();
      long oldest = requests.oldestStart();
      long givenUp = oldest == Long.MAX_VALUE ? oldest : environment.noticed(oldest + timeoutNanos);
      long delivered = wire.next();
      long woken = environment.noticed(limiter.next());
      long next = Math.min(Math.min(done, delivered), Math.min(givenUp, woken));
      next = Math.min(next, nextArrival);
      if (next >= end) {
        recorder.advance(end);
        return;
      }
      recorder.advance(next);
      if (next == done) {
        finish(next);
      } else if (next == delivered) {
        deliver(wire.done(), next);
      } else if (next == givenUp) {
        giveUp(next);
      } else if (next == woken) {
        limiter.wake();
      } else {
        arrive(next);
        send(sent);
      }
      recorder.limit(limiter.limit(), algorithm.isProbing());
    }
  }

  private void arrive(long now) {
    double length = phase.lengths().draw(lengths);
    boolean admitted = limiter.admit(requests.next(), now, inFlight);
    recorder.arrived(admitted);
    if (!admitted) {
      return;
    }
    inFlight++;
    recorder.inFlight(inFlight);
    requests.add(now, length, inFlight);
    serve(now);
  }

  private void serve(long now) {
    while (servers.busy() < phase.servers() && requests.anyWaits()) {
      long number = requests.serve();
      double nanos = requests.length(number) * phase.meanMillis() * MILLI;
      servers.begin(environment.served(now, nanos, inFlight), number);
    }
  }

  private void finish(long now) {
    long number = servers.done();
    if (environment.delays()) {
      wire.begin(environment.noticed(environment.delivered(now)), number);
    } else {
      deliver(number, now);
    }
    serve(now);
  }

  private void deliver(long number, long now) {
    if (requests.isOpen(number)) {
      end(number, now, false);
    }
  }

  private void giveUp(long now) {
    end(requests.giveUp(), now, true);
  }

  private void end(long number, long now, boolean dropped) {
    long start = requests.start(number);
    int inFlightThen = requests.inFlight(number);
    requests.end(number);
    recorder.ended(now - start);
    limiter.ended(number, start, now, inFlightThen, inFlight, dropped);
    inFlight--;
  }

  /** Draws the next request, sent after the one at {@code previous}. */
  private void send(long previous) {
    double gap = environment.gap(arrivals, previous) * SECOND / phase.perSecond();
    sent = previous + Math.max(1, (long) gap);
    nextArrival = environment.noticed(sent);
  }
}
