package io.throttlekit.demo.overload;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.demo.DemoFiles;
import io.throttlekit.demo.DemoService;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.load.Backend;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Client;
import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Workers;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.envoy.EnvoyProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;

/** An Envoy with an upstream and clients of its own. */
final class Arm {
  private static final int SERVICE_TIMES = 2; // a random stream of its own; arrivals are 1

  private final Limiter limiter;
  private final EnvoyProcess envoy;
  private final Workers workers;
  private final Course course;
  private final Client client;

  private Arm(Limiter limiter, EnvoyProcess envoy, Workers workers, Course course, Client client) {
    this.limiter = limiter;
    this.envoy = envoy;
    this.workers = workers;
    this.course = course;
    this.client = client;
  }

  /**
   * The settings that all arms share.
   *
   * @param program Envoy's binary
   * @param capacity of each upstream
   * @param timeout of clients
   * @param seed of the service times, which are the same for each upstream
   * @param clients event loop of all clients
   * @param upstreams event loop of all upstreams
   */
  record Setting(
      Path program,
      Capacity capacity,
      Duration timeout,
      long seed,
      EventLoop clients,
      EventLoop upstreams,
      TimeSource time) {}

  /**
   * Starts the arm, and waits until it is ready.
   *
   * @param folder of this arm only; created here
   * @throws IOException naming the arm, if a process does not start
   */
  static Arm start(Limiter limiter, Setting setting, Course course, Path folder, Undo started)
      throws IOException {
    try {
      Files.createDirectories(folder);
      Workers workers = workers(setting);
      Backend upstream = Backend.start(workers, setting.upstreams());
      int service = limiter == Limiter.OURS ? service(folder, started) : 0;
      EnvoyProcess envoy =
          EnvoyProcess.start(
              setting.program(), limiter.bootstrap(upstream.port(), service), folder);
      started.push(envoy::close);
      Client client =
          new Client(envoy.port(), setting.clients(), setting.timeout(), course, setting.time());
      return new Arm(limiter, envoy, workers, course, client);
    } catch (IOException e) {
      throw new IOException(
          "the arm '%s' does not start: %s".formatted(limiter.word(), e.getMessage()), e);
    }
  }

  private static Workers workers(Setting setting) {
    Capacity capacity = setting.capacity();
    Chance chance = new Chance(setting.seed(), SERVICE_TIMES);
    return new Workers(
        capacity.workers(),
        () -> (long) (capacity.lengths().draw(chance) * capacity.service().toNanos()),
        (nanos, what) -> {
          long left = nanos - setting.time().monotonicNanos();
          var _ = setting.upstreams().schedule(what, left, NANOSECONDS);
        },
        setting.time());
  }

  /** Starts the service. Returns its port for Envoy's reports, the only one that is used. */
  private static int service(Path folder, Undo started) throws IOException {
    String policy =
        DemoFiles.text("overload/policy.yaml")
            .replace("@HIGHEST@", Integer.toString(Limiter.HIGHEST));
    Path file = Files.writeString(folder.resolve("policy.yaml"), policy);
    DemoService service = DemoService.start(file, folder.resolve("service.log"));
    started.push(service::close);
    return service.sensorsPort();
  }

  Limiter limiter() {
    return limiter;
  }

  Course course() {
    return course;
  }

  /** Sends a request, on the event loop of the clients. */
  void send(int second, long intendedNanos) {
    client.send(second, intendedNanos);
  }

  /** Changes the capacity of the upstream. */
  void begin(Phase phase, Capacity capacity) {
    if (phase.afresh()) {
      workers.removeAbandoned();
    }
    workers.employ((int) Math.round(capacity.workers() * phase.capacity()));
  }

  /** Reads the limit in effect, and records it for a second of the course. */
  void look(int second) throws IOException {
    OptionalInt limit = limiter.limit(envoy);
    limit.ifPresent(requests -> course.limit(second, requests));
  }
}
