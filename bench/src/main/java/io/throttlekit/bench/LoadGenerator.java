package io.throttlekit.bench;

import java.io.IOException;
import java.time.Duration;

/** Offers a load to a server on this machine and says what came back. */
final class LoadGenerator {
  private LoadGenerator() {}

  /**
   * {@code HOST:PORT [--connections 4] [--in-flight 16] [--rate N] [--keys 10000] [--seconds 10]
   * [--requests N] [--warm-up 5] [--pid PID]}.
   *
   * <p>Without a rate it is a closed loop of so many in flight per connection. The warm-up is
   * always a closed loop: an open loop that starts cold measures the compiler. With the server's
   * process id, its CPU per decision and its memory are reported too.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Arguments arguments = Arguments.parse(args);
    LoopbackTarget target = LoopbackTarget.parse(arguments.subject());
    ClosedLoop closed = new ClosedLoop(arguments.integer("in-flight", 16));
    int rate = arguments.integer("rate", 0);
    Load load = rate == 0 ? closed : new OpenLoop(rate);
    Bounds bounds =
        new Bounds(arguments.number("requests", Long.MAX_VALUE), arguments.seconds("seconds", 10));
    Duration warmUp = arguments.seconds("warm-up", 5);
    long pid = arguments.number("pid", 0);
    Requests requests = new Requests(arguments.integer("keys", 10_000));
    try (Connections connections = new Connections(target, arguments.integer("connections", 4))) {
      if (warmUp.isPositive()) {
        closed.offer(connections, requests, Bounds.lasting(warmUp));
      }
      if (pid == 0) {
        System.out.println(load.offer(connections, requests, bounds));
      } else {
        System.out.println(
            MeasuredLoad.of(() -> ProcessUsage.of(pid), load, connections, requests, bounds));
      }
    }
  }
}
