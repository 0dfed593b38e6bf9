package io.throttlekit.bench.load;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.machine.ProcessUsage;
import java.time.Duration;
import java.util.Set;

/** Offers a load to a server on this machine and prints the result. */
public final class LoadGenerator {
  public static final Set<String> OPTIONS =
      Set.of("connections", "in-flight", "rate", "keys", "seconds", "requests", "warm-up", "pid");

  private LoadGenerator() {}

  /**
   * {@code HOST:PORT [--connections 4] [--in-flight 16] [--rate N] [--keys 10000] [--seconds 10]
   * [--requests N] [--warm-up 5] [--pid PID]}.
   *
   * <p>Without a rate it is a closed loop with this number of requests in flight per connection.
   * The warm-up is always a closed loop: an open loop that starts cold measures the compiler. With
   * the server's process id, its CPU per decision and its memory are reported too.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(LoadGenerator::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    LoopbackTarget target = LoopbackTarget.parse(arguments.only("HOST:PORT"));
    ClosedLoop closed = new ClosedLoop(arguments.integer("in-flight", 1, 16));
    int rate = arguments.integer("rate", 0, 0);
    Load load = rate == 0 ? closed : new OpenLoop(rate);
    Bounds bounds =
        new Bounds(
            arguments.number("requests", 1, Long.MAX_VALUE), arguments.seconds("seconds", 1, 10));
    Duration warmUp = arguments.seconds("warm-up", 0, 5);
    long pid = arguments.number("pid", 0, 0);
    if (pid != 0 && ProcessHandle.of(pid).isEmpty()) {
      throw new IllegalArgumentException("--pid " + pid + " is no process of this machine");
    }
    int keys = arguments.integer("keys", 1, 10_000);
    int count = arguments.integer("connections", 1, 4);
    return () -> {
      Requests requests = new Requests(keys);
      try (Connections connections = new Connections(target, count)) {
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
    };
  }
}
