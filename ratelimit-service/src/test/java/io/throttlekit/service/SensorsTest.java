package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.ConfigLoader;
import io.throttlekit.service.config.ServeFlags;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.server.Ask;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sensors as the service wires them. */
class SensorsTest {
  private static final String LOGGED =
      """
      domain: d
      descriptors:
        - key: k
          concurrency:
            min: 1
            max: 1
            lease: {ttl: 10m, release: access_log, flush_interval: 0, service_time: 20ms}
      """;

  @TempDir private Path folder;
  private @Nullable RateLimitService service;
  private @Nullable ManagedChannel channel;

  @BeforeEach
  void write() throws Exception {
    Files.writeString(folder.resolve("policy.yaml"), LOGGED);
  }

  @AfterEach
  void stop() {
    if (channel != null) {
      channel.shutdownNow();
    }
    if (service != null) {
      service.stop();
    }
  }

  @Test
  void anEntryOfTheLogMakesRoomForTheNextRequest() {
    ManagedChannel client = start(Map.of());
    RateLimitResponse first = ask(client);
    assertThat(first.getOverallCode()).isEqualTo(Code.OK);
    assertThat(ask(client).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    CompletableFuture<Status> end = new CompletableFuture<>();
    StreamObserver<StreamAccessLogsMessage> log =
        AccessLogServiceGrpc.newStub(client).streamAccessLogs(new Ending(end));
    log.onNext(logged(first.getDynamicMetadata()));
    await().until(() -> ask(client).getOverallCode() == Code.OK);
    log.onCompleted();
    assertThat(end.join().getCode()).isEqualTo(Status.Code.OK);
  }

  /** With ceilings at Envoys alone no answer leaves a mark, and that there is none says nothing. */
  @Test
  void anEntryWithoutAMarkCountsWhileAnswersLeaveSome() throws Exception {
    assertThat(unmarkedAfterAnEntry(Map.of())).isEqualTo("1.0");
    stop();
    Files.writeString(
        folder.resolve("policy.yaml"),
        """
        domain: d
        descriptors:
          - {key: c, concurrency: {gate: envoy, cluster: up}}
        """);
    assertThat(unmarkedAfterAnEntry(Map.of())).isEqualTo("0.0");
    stop();
    Map<String, String> metadata = Map.of("THROTTLEKIT_RESPONSE_DYNAMIC_METADATA", "true");
    assertThat(unmarkedAfterAnEntry(metadata)).isEqualTo("1.0");
  }

  private String unmarkedAfterAnEntry(Map<String, String> environment) throws Exception {
    CompletableFuture<Status> end = new CompletableFuture<>();
    StreamObserver<StreamAccessLogsMessage> log =
        AccessLogServiceGrpc.newStub(start(environment)).streamAccessLogs(new Ending(end));
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    entry.getResponseBuilder().getResponseCodeBuilder().setValue(200);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToFirstUpstreamTxByte(Duration.newBuilder().setNanos(1))
        .getUpstreamRemoteAddressBuilder();
    log.onNext(
        StreamAccessLogsMessage.newBuilder()
            .setHttpLogs(HTTPAccessLogEntries.newBuilder().addLogEntry(entry))
            .build());
    log.onCompleted();
    assertThat(end.join().getCode()).isEqualTo(Status.Code.OK);
    assertThat(sample("throttlekit_access_log_entries_total{kind=\"untimed\"}")).isEqualTo("1.0");
    return sample("throttlekit_access_log_unmarked_total");
  }

  /** The value of a metric that the service shows. */
  private String sample(String series) throws Exception {
    String ready = Objects.requireNonNull(service).readyLine();
    String address = ready.replaceAll(".* http=(\\S+).*", "$1");
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest scrape =
          HttpRequest.newBuilder(URI.create("http://" + address + "/metrics")).build();
      return client
          .send(scrape, HttpResponse.BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith(series + " "))
          .map(line -> line.substring(series.length() + 1))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void whatIsNotTakenIsNotServedAndNoPolicyMayWaitForIt() throws Exception {
    Map<String, String> deaf =
        Map.of(
            "THROTTLEKIT_CONCURRENCY_ACCESS_LOG", "false",
            "THROTTLEKIT_CONCURRENCY_LOAD_REPORTS", "false");
    try (Logged logged = Logged.by(PolicyReloader.class)) {
      assertThatThrownBy(() -> start(deaf)).hasMessage("no policies: 1 error");
      assertThat(logged.lines())
          .anyMatch(line -> line.contains("policy.yaml:7:") && line.contains("access_log: true"));
    }
    Files.writeString(folder.resolve("policy.yaml"), "domain: d\n");
    ManagedChannel client = start(deaf);
    CompletableFuture<Status> end = new CompletableFuture<>();
    var _ = AccessLogServiceGrpc.newStub(client).streamAccessLogs(new Ending(end));
    assertThat(end.join().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  @Test
  void aCeilingIsPushedToWhoAsksForItAndOnlyByWhoSteers() throws Exception {
    Files.writeString(
        folder.resolve("policy.yaml"),
        """
        domain: d
        descriptors:
          - {key: c, concurrency: {gate: envoy, cluster: up, min: 7, max: 7}}
        """);
    CompletableFuture<Runtime> told = askForCeilings(start(Map.of()));
    assertThat(told.join().getLayer().getFieldsMap())
        .containsEntry(
            "circuit_breakers.up.default.max_requests",
            Value.newBuilder().setNumberValue(7).build());
    String labels = "{domain=\"d\",rule=\"c\"}";
    assertThat(sample("throttlekit_concurrency_envoys" + labels)).isEqualTo("1.0");
    assertThat(sample("throttlekit_concurrency_refused_by_envoys_total" + labels)).isEqualTo("0.0");
    stop();
    Map<String, String> other =
        Map.of(
            "THROTTLEKIT_CONCURRENCY_STEER",
            "false",
            "THROTTLEKIT_CONCURRENCY_ACCESS_LOG",
            "false");
    try (Logged logged = Logged.by(PolicyRemarks.class)) {
      CompletableFuture<Runtime> never = askForCeilings(start(other));
      assertThatThrownBy(never::join).hasMessageContaining("UNIMPLEMENTED");
      assertThat(logged.lines())
          .containsExactly(
              "INFO cluster up is not steered by this process (concurrency.steer: false)");
    }
  }

  /** Asks as an Envoy does over ADS. */
  private static CompletableFuture<Runtime> askForCeilings(ManagedChannel client) {
    CompletableFuture<Runtime> told = new CompletableFuture<>();
    StreamObserver<DiscoveryRequest> ask =
        AggregatedDiscoveryServiceGrpc.newStub(client)
            .streamAggregatedResources(
                new StreamObserver<>() {
                  @Override
                  public void onNext(DiscoveryResponse answer) {
                    try {
                      told.complete(answer.getResources(0).unpack(Runtime.class));
                    } catch (InvalidProtocolBufferException e) {
                      told.completeExceptionally(e);
                    }
                  }

                  @Override
                  public void onError(Throwable cause) {
                    told.completeExceptionally(cause);
                  }

                  @Override
                  public void onCompleted() {}
                });
    ask.onNext(
        DiscoveryRequest.newBuilder()
            .setNode(Node.newBuilder().setId("edge-1"))
            .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
            .addResourceNames("ceiling")
            .build());
    return told;
  }

  private ManagedChannel start(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("THROTTLEKIT_GRPC_PORT", "0");
    environment.put("THROTTLEKIT_GRPC_HOST", "127.0.0.1");
    environment.put("THROTTLEKIT_HTTP_PORT", "0");
    environment.put("THROTTLEKIT_DEBUG_PORT", "0");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    ServeFlags flags =
        new ServeFlags(List.of(folder.toString()), null, null, null, null, null, null, null);
    ServiceConfig config =
        Objects.requireNonNull(new ConfigLoader(environment).load(flags).config());
    RateLimitService started = new RateLimitService(config, TimeSource.system());
    assertThat(started.start()).isTrue();
    service = started;
    ManagedChannel client =
        NettyChannelBuilder.forTarget(started.grpcAddress()).usePlaintext().build();
    channel = client;
    return client;
  }

  private static RateLimitResponse ask(ManagedChannel client) {
    return RateLimitServiceGrpc.newBlockingStub(client)
        .shouldRateLimit(Ask.to("d", Ask.entries("k", "v")));
  }

  private static StreamAccessLogsMessage logged(Struct metadata) {
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    entry
        .getCommonPropertiesBuilder()
        .getMetadataBuilder()
        .putFilterMetadata("envoy.filters.http.ratelimit", metadata);
    return StreamAccessLogsMessage.newBuilder()
        .setHttpLogs(HTTPAccessLogEntries.newBuilder().addLogEntry(entry))
        .build();
  }

  private record Ending(CompletableFuture<Status> end)
      implements StreamObserver<StreamAccessLogsResponse> {
    @Override
    public void onNext(StreamAccessLogsResponse answer) {}

    @Override
    public void onError(Throwable cause) {
      end.complete(Status.fromThrowable(cause));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }
  }
}
