package io.throttlekit.envoy.ads;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StringValue;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * A subscription to a fake control plane in the same process, all on the thread of the test: what
 * one side sends, the other has received when the call returns. Pauses do not vary.
 */
final class Subscribed implements AutoCloseable {
  static final SubscriptionSettings SETTINGS =
      new SubscriptionSettings(
          FakeControlPlane.TYPE,
          Node.newBuilder().setId("replica-1").setCluster("ratelimit").build(),
          Map.of("x-tenant", "a"),
          new ReconnectBackoff(
              Duration.ofSeconds(3), Duration.ofSeconds(10), Duration.ofSeconds(60), 0));

  final FakeControlPlane controlPlane = new FakeControlPlane();
  final VirtualTime time = new VirtualTime();
  final ConfigSubscription subscription;
  private final List<Received> received = new ArrayList<>();
  private final List<String> connections = new ArrayList<>();
  private final Server server;
  private Function<Received, Optional<String>> listener = _ -> Optional.empty();

  /** Texts and version of a response. */
  record Received(String version, List<String> texts, long atNanos) {}

  Subscribed() {
    this(Runnable::run);
  }

  /** With an executor of all that the subscription does. */
  Subscribed(Executor executor) {
    String name = UUID.randomUUID().toString();
    try {
      server =
          InProcessServerBuilder.forName(name).directExecutor().addService(controlPlane).build();
      server.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    subscription =
        new ConfigSubscription(
            SETTINGS,
            ofCalls -> InProcessChannelBuilder.forName(name).executor(ofCalls).build(),
            new Recorder(),
            time,
            time,
            new SplittableRandom(1),
            executor);
  }

  /** Starts without a version. */
  static Subscribed started() {
    Subscribed started = new Subscribed();
    started.subscription.start("");
    return started;
  }

  /** Decides about responses from now on. */
  void listen(Function<Received, Optional<String>> newListener) {
    listener = newListener;
  }

  /** Rejects responses with a text that begins with "bad". */
  Subscribed rejectBad() {
    listen(
        response -> response.texts().stream().filter(text -> text.startsWith("bad")).findFirst());
    return this;
  }

  void pass(Duration duration) {
    time.pass(duration);
  }

  /** Returns what the listener received. */
  List<Received> received() {
    return received;
  }

  Received last() {
    return received.getLast();
  }

  /** Returns {@code connected} and the reasons of disconnections, in order. */
  List<String> connections() {
    return connections;
  }

  @Override
  public void close() {
    subscription.close();
    server.shutdownNow();
  }

  private final class Recorder implements ConfigListener {
    @Override
    public Optional<String> received(String version, List<Any> resources) {
      Received response =
          new Received(version, resources.stream().map(this::text).toList(), time.monotonicNanos());
      received.add(response);
      return listener.apply(response);
    }

    @Override
    public void connected() {
      connections.add("connected");
    }

    @Override
    public void disconnected(String reason) {
      connections.add(reason);
    }

    private String text(Any resource) {
      try {
        return resource.unpack(StringValue.class).getValue();
      } catch (InvalidProtocolBufferException e) {
        return "bad: " + e.getMessage();
      }
    }
  }
}
