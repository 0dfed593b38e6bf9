package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.rpc.Status;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.extension.v3.ExtensionConfigDiscoveryServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.Scheduler;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.envoy.filter.FilterServer;
import io.throttlekit.envoy.filter.FilterSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Log lines about the filters that Envoys receive. */
class FilterLinesTest {
  private final List<Runnable> lines = new ArrayList<>();
  private final FilterServer filters =
      new FilterServer(
          new FilterSettings("limits", Duration.ofMillis(100), false),
          Scheduler.system(),
          lines::add);

  private static PolicyBook policies(int domains) {
    List<PolicySource> files = new ArrayList<>();
    for (int i = 0; i < domains; i++) {
      files.add(
          new PolicySource(
              i + ".yaml",
              "domain: d%d\ndescriptors: [{key: k*, rate_limit: {unit: day, requests_per_unit: 1}}]\n"
                  .formatted(i)));
    }
    return Objects.requireNonNull(new PolicyLoader(new LoadOptions(true)).load(files).book());
  }

  @Test
  void whatAFilterLacksIsLoggedOnceAndInABoundedNumberOfLines() {
    try (Logged logged = Logged.by(FilterServer.class)) {
      filters.follow(policies(1));
      filters.follow(policies(1));
      assertThat(logged.lines())
          .containsExactly(
              "WARNING the filter that Envoys receive for `d0` lacks 1 of its descriptors: `k*`"
                  + " (0.yaml:2:15): the key is a wildcard");
      filters.follow(policies(100));
      assertThat(logged.lines())
          .hasSize(22)
          .last()
          .isEqualTo("WARNING 79 further filters lack descriptors");
    }
  }

  @Test
  void rejectionsAreBoundedLinesOfBoundedNumber() throws IOException {
    String name = "filter-lines";
    Server server =
        InProcessServerBuilder.forName(name).directExecutor().addService(filters).build();
    ManagedChannel channel = InProcessChannelBuilder.forName(name).directExecutor().build();
    server.start();
    try (Logged logged = Logged.by(FilterServer.class)) {
      for (int i = 0; i < 100; i++) {
        reject(channel, "edge-" + i, "no\n\u001bsuch\u2028field" + "x".repeat(10_000));
      }
      assertThat(logged.lines()).as("lines on the thread of a client").isEmpty();
      lines.forEach(Runnable::run);
      assertThat(logged.lines()).hasSize(20);
      assertThat(logged.lines().getFirst())
          .startsWith("WARNING node edge-0 rejected its filter: no  such fieldxxx")
          .hasSizeLessThan(600);
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  private static void reject(ManagedChannel channel, String node, String why) {
    StreamObserver<DiscoveryRequest> envoy =
        ExtensionConfigDiscoveryServiceGrpc.newStub(channel)
            .streamExtensionConfigs(
                new StreamObserver<DiscoveryResponse>() {
                  @Override
                  public void onNext(DiscoveryResponse response) {}

                  @Override
                  public void onError(Throwable cause) {}

                  @Override
                  public void onCompleted() {}
                });
    envoy.onNext(
        DiscoveryRequest.newBuilder()
            .setNode(Node.newBuilder().setId(node))
            .addResourceNames("throttlekit/d")
            .build());
    envoy.onNext(
        DiscoveryRequest.newBuilder()
            .addResourceNames("throttlekit/d")
            .setErrorDetail(Status.newBuilder().setMessage(why))
            .build());
  }
}
