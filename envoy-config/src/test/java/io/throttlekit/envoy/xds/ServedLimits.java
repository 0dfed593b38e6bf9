package io.throttlekit.envoy.xds;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A server of limits for fake Envoys in this thread: every message is processed before a call
 * returns. Accepts three streams by default; its listener fails when 13 requests are acknowledged.
 */
final class ServedLimits implements AutoCloseable {
  private static final LimitServerSettings SETTINGS =
      new LimitServerSettings(
          "concurrency_limits", 3, Duration.ofSeconds(30), Duration.ofSeconds(1), Duration.ZERO);

  private final SettableTime time = new SettableTime();
  private final List<Integer> acknowledgedLimits = new ArrayList<>();
  private final List<Runnable> later = new ArrayList<>();
  private final LimitServer limits;
  private final Server server;
  private final ManagedChannel channel;

  ServedLimits() {
    this(SETTINGS);
  }

  ServedLimits(LimitServerSettings settings, ServerInterceptor... interceptors) {
    limits =
        new LimitServer(settings, time, "e1", new LimitRecorder(), (_, task) -> later.add(task));
    String name = UUID.randomUUID().toString();
    InProcessServerBuilder builder = InProcessServerBuilder.forName(name).directExecutor();
    for (BindableService service : limits.services()) {
      builder.addService(ServerInterceptors.intercept(service, interceptors));
    }
    try {
      server = builder.build().start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    channel = InProcessChannelBuilder.forName(name).directExecutor().build();
  }

  LimitServer limits() {
    return limits;
  }

  ManagedChannel channel() {
    return channel;
  }

  SettableTime time() {
    return time;
  }

  /** Returns the values that the listener received, in order. */
  List<Integer> acknowledged() {
    return acknowledgedLimits;
  }

  /** Lets a pause pass, and runs the tasks that wait for its end. */
  void pause(Duration pause) {
    time.pass(pause);
    List<Runnable> due = List.copyOf(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  long rejected() {
    return limits.rejected();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
  }

  private final class LimitRecorder implements LimitServerListener {
    @Override
    public void acknowledged(ClusterLimit limit, int requests, long sinceNanos) {
      if (requests == 13) {
        throw new IllegalStateException("a listener that fails");
      }
      assertThat(limit.cluster()).isNotEmpty();
      acknowledgedLimits.add(requests);
    }
  }
}
