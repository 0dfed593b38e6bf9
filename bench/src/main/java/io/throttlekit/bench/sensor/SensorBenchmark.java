package io.throttlekit.bench.sensor;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures the cost of access logs and load reports for a service that sets limits of Envoys by
 * them, beside a server that parses and ignores them.
 */
public final class SensorBenchmark {
  public static final Set<String> OPTIONS =
      Stream.of(Set.of("warm-up", "rounds", "seconds", "connections"), Servers.OPTIONS)
          .flatMap(Set::stream)
          .collect(Collectors.toUnmodifiableSet());

  /**
   * Makes every entry a sample: by default the service uses only the first 10,000 of each second.
   */
  private static final Map<String, String> ALL_SAMPLES =
      Map.of("THROTTLEKIT_CONCURRENCY_MAX_SAMPLES_PER_SECOND", "10000000");

  private SensorBenchmark() {}

  /**
   * {@code [--rounds 10] [--seconds 3] [--warm-up 25] [--connections 4] [--service bin/throttlekit]
   * [--folder bench/target/runs]}.
   *
   * <p>Prints a Markdown table, then one line of JSON.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(SensorBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    Duration warmUp = arguments.seconds("warm-up", 1, 25);
    int rounds = arguments.integer("rounds", 1, 10);
    Duration round = arguments.seconds("seconds", 1, 3);
    int connections = arguments.integer("connections", 1, 4);
    Servers servers = Servers.from(arguments);
    return () -> compare(servers, connections, warmUp, rounds, round);
  }

  private static void compare(
      Servers servers, int connections, Duration warmUp, int rounds, Duration round)
      throws IOException, InterruptedException {
    servers.makeCaches("memory");
    List<SensorRow> rows = new ArrayList<>();
    try (ServerProcess service = servers.service("sensors", "sensors.yaml", ALL_SAMPLES);
        ServerProcess noOp = servers.noOp(Servers.jvmOptions(service.arguments()));
        Connections toService = new Connections(service.sensors(), connections);
        Connections toNoOp = new Connections(noOp.target(), connections)) {
      for (Sensor sensor : Sensor.values()) {
        List<List<byte[]>> messages =
            IntStream.range(0, connections).mapToObj(sensor::messages).toList();
        SensorLoad ours = new SensorLoad(service, toService, sensor, messages);
        SensorLoad nothing = new SensorLoad(noOp, toNoOp, sensor, messages);
        ours.warmUp(warmUp);
        nothing.warmUp(warmUp);
        // The order alternates, so that a disturbance affects both.
        for (int i = 0; i < rounds; i++) {
          (i % 2 == 0 ? ours : nothing).measure(round);
          (i % 2 == 0 ? nothing : ours).measure(round);
        }
        ours.check();
        rows.add(new SensorRow(sensor, ours, nothing));
      }
    }
    System.out.println(table(rows));
    System.out.println(json(rows));
  }

  private static String table(List<SensorRow> rows) {
    StringJoiner lines = new StringJoiner("\n");
    lines.add("| sensor | a second | µs CPU of one | of the no-op | ratio |");
    lines.add("|---|---|---|---|---|");
    rows.forEach(row -> lines.add(row.markdown()));
    return lines.toString();
  }

  private static String json(List<SensorRow> rows) {
    StringJoiner fields = new StringJoiner(", ", "{", "}");
    rows.forEach(row -> fields.add(row.json()));
    return fields.toString();
  }

  /** Measurements of one sensor. */
  private record SensorRow(Sensor sensor, SensorLoad ours, SensorLoad nothing) {
    String markdown() {
      return String.format(
          Locale.ROOT,
          "| %s: each %s | %,.0f | %.3f | %.3f | %.2f |",
          sensor.words(),
          sensor.unit(),
          ours.perSecond(),
          ours.cpuMicros(),
          nothing.cpuMicros(),
          ours.cpuMicros() / nothing.cpuMicros());
    }

    String json() {
      return String.format(
          Locale.ROOT,
          "\"%s\": {\"per_second\": %.0f, \"cpu_us\": %.3f, \"no_op_cpu_us\": %.3f}",
          sensor.name().toLowerCase(Locale.ROOT),
          ours.perSecond(),
          ours.cpuMicros(),
          nothing.cpuMicros());
    }
  }
}
