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
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.throttlekit.TimeSource;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.config.load.Options;
import io.throttlekit.service.policies.PolicyReloader;
import io.throttlekit.service.server.StartException;
import io.throttlekit.service.server.TestRequests;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the services for Envoys' reports as the process wires them. */
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
  private final List<ManagedChannel> channels = new ArrayList<>();

  @BeforeEach
  void write() throws Exception {
    Files.writeString(folder.resolve("policy.yaml"), LOGGED);
  }

  @AfterEach
  void stop() {
    channels.forEach(ManagedChannel::shutdownNow);
    if (service != null) {
      service.stop();
    }
  }

  @Test
  void anAccessLogEntryReleasesTheLease() {
    ManagedChannel client = start(Map.of());
    RateLimitResponse first = callService(client);
    assertThat(first.getOverallCode()).isEqualTo(Code.OK);
    assertThat(callService(client).getOverallCode()).isEqualTo(Code.OVER_LIMIT);
    CompletableFuture<Status> end = new CompletableFuture<>();
    StreamObserver<StreamAccessLogsMessage> log =
        AccessLogServiceGrpc.newStub(sensors()).streamAccessLogs(new Ending(end));
    log.onNext(logged(first.getDynamicMetadata()));
    await().until(() -> callService(client).getOverallCode() == Code.OK);
    log.onCompleted();
    assertThat(end.join().getCode()).isEqualTo(Status.Code.OK);
  }

  /** Envoys check the health of each port that they have a cluster for. */
  @Test
  void thePortForSensorsAnswersHealthChecks() {
    var _ = start(Map.of());
    HealthCheckResponse health =
        HealthGrpc.newBlockingStub(sensors()).check(HealthCheckRequest.getDefaultInstance());
    assertThat(health.getStatus()).isEqualTo(ServingStatus.SERVING);
  }

  /**
   * With {@code gate: envoy} alone no answer leaves a mark, so that a missing one is no evidence.
   */
  @Test
  void anUnmarkedEntryCountsWhileAnswersLeaveEntriesUnmarked() throws Exception {
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
    var _ = start(environment);
    CompletableFuture<Status> end = new CompletableFuture<>();
    StreamObserver<StreamAccessLogsMessage> log =
        AccessLogServiceGrpc.newStub(sensors()).streamAccessLogs(new Ending(end));
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

  /** Returns the value of a metric of the service. */
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
  void aDisabledSensorIsNotServedAndPoliciesCannotRelyOnIt() throws Exception {
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
    assertThat(endOfALog(start(deaf))).isEqualTo(Status.Code.UNIMPLEMENTED);
    assertThat(service().readyLine()).doesNotContain("sensors=");
  }

  @Test
  void sensorsAreNotServedOnThePortOfDecisions() {
    ManagedChannel client = start(Map.of());
    assertThat(endOfALog(client)).isEqualTo(Status.Code.UNIMPLEMENTED);
    assertThatThrownBy(subscribeToLimits(client)::join).hasMessageContaining("UNIMPLEMENTED");
    assertThatThrownBy(() -> callService(sensors())).hasMessageContaining("UNIMPLEMENTED");
  }

  @Test
  void sensorsListenWhileARuleNeedsThem() throws Exception {
    String plain = "domain: d\ndescriptors: [{key: k, concurrency: {min: 1, max: 1}}]\n";
    String steered =
        "domain: d\ndescriptors: [{key: k, concurrency: {gate: envoy, cluster: up}}]\n";
    Files.writeString(folder.resolve("policy.yaml"), plain);
    var _ = start(Map.of("THROTTLEKIT_POLICIES_POLL_INTERVAL", "20ms"));
    assertThat(service().readyLine()).matches("ready grpc=\\S+ http=\\S+ debug=\\S+");
    try (Logged logged = Logged.by(Sensors.class)) {
      Files.writeString(folder.resolve("policy.yaml"), steered);
      await().until(() -> service().readyLine().matches(".* sensors=127\\.0\\.0\\.1:\\d+"));
      assertThat(subscribeToLimits(sensors()).join().getLayer().getFieldsMap()).hasSize(1);
      assertThat(sample("throttlekit_sensors_connections")).isEqualTo("1.0");
      assertThat(sample("throttlekit_sensors_closed_connections_total{reason=\"memory\"}"))
          .isEqualTo("0.0");
      Files.writeString(folder.resolve("policy.yaml"), plain);
      await().until(() -> !service().readyLine().contains("sensors="));
      assertThatThrownBy(() -> sample("throttlekit_sensors_connections"))
          .isInstanceOf(NoSuchElementException.class);
      assertThat(logged.lines())
          .hasSize(2)
          .anyMatch(line -> line.startsWith("INFO listening for reports of Envoys on 127.0.0.1:"))
          .anyMatch(
              line -> line.matches("INFO 127.0.0.1:[0-9]+ is closed, as no rule needs sensors"));
      Files.writeString(folder.resolve("policy.yaml"), LOGGED);
      await().until(() -> service().readyLine().contains("sensors="));
    }
  }

  @Test
  void aPortInUseFailsTheStartButNotAReload() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Map<String, String> there =
          Map.of(
              "THROTTLEKIT_SENSORS_LISTEN",
              "127.0.0.1:" + taken.getLocalPort(),
              "THROTTLEKIT_POLICIES_POLL_INTERVAL",
              "20ms");
      assertThatThrownBy(() -> start(there))
          .isInstanceOf(StartException.class)
          .hasMessageContaining("cannot listen for gRPC on 127.0.0.1:" + taken.getLocalPort())
          .hasMessageEndingWith("(set by sensors.listen)");
      Files.writeString(folder.resolve("policy.yaml"), "domain: d\n");
      ManagedChannel client = start(there);
      try (Logged logged = Logged.by(Sensors.class)) {
        Files.writeString(folder.resolve("policy.yaml"), LOGGED);
        await().until(() -> !logged.lines().isEmpty());
        assertThat(logged.lines().getFirst()).contains("tried again every 5 s");
        assertThat(callService(client).getOverallCode()).isEqualTo(Code.OK);
      }
    }
  }

  @Test
  void warnsOfAnOpenListenerWithoutClientCertificates() {
    try (Logged logged = Logged.by(Sensors.class)) {
      var _ = start(Map.of("THROTTLEKIT_SENSORS_LISTEN", ":0"));
      assertThat(logged.lines())
          .anyMatch(line -> line.startsWith("WARNING") && line.contains("sensors.tls.client_ca"));
    }
    stop();
    try (Logged logged = Logged.by(Sensors.class)) {
      var _ = start(Map.of());
      assertThat(logged.lines()).noneMatch(line -> line.startsWith("WARNING"));
    }
  }

  @Test
  void onlyClientsWithTheIdentityAndNodeIdOfTheirCertificateAreServed() throws Exception {
    X509Bundle authority =
        new CertificateBuilder()
            .subject("CN=authority")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    X509Bundle own = issued(authority).addSanDnsName("sensors.test").buildIssuedBy(authority);
    Files.writeString(folder.resolve("ca.pem"), authority.getCertificatePEM());
    Files.writeString(folder.resolve("cert.pem"), own.getCertificatePathPEM());
    Files.writeString(folder.resolve("key.pem"), own.getPrivateKeyPEM());
    Files.writeString(
        folder.resolve("policy.yaml"),
        "domain: d\ndescriptors: [{key: c, concurrency: {gate: envoy, cluster: up}}]\n");
    var _ =
        start(
            Map.of(
                "THROTTLEKIT_SENSORS_TLS_CERTIFICATE", folder.resolve("cert.pem").toString(),
                "THROTTLEKIT_SENSORS_TLS_KEY", folder.resolve("key.pem").toString(),
                "THROTTLEKIT_SENSORS_TLS_CLIENT_CA", folder.resolve("ca.pem").toString(),
                "THROTTLEKIT_SENSORS_IDENTITIES", "*.mesh.local,spiffe://mesh.local/ns/edge/*",
                "THROTTLEKIT_SENSORS_BIND_NODE_ID", "true"));
    X509Bundle edge = issued(authority).addSanDnsName("edge-1.mesh.local").buildIssuedBy(authority);
    X509Bundle a =
        issued(authority)
            .addSanUriName("spiffe://mesh.local/ns/edge/a/sa/default")
            .buildIssuedBy(authority);
    X509Bundle b =
        issued(authority)
            .addSanUriName("spiffe://mesh.local/ns/edge/b/sa/default")
            .buildIssuedBy(authority);
    Map<String, X509Bundle> owners =
        Map.of(
            "edge-1.mesh.local/7", edge,
            "spiffe://mesh.local/ns/edge/a/sa/default", a,
            "spiffe://mesh.local/ns/edge/b/sa/default#7", b);
    for (var owned : owners.entrySet()) {
      for (X509Bundle client : List.of(edge, a, b)) {
        CompletableFuture<Runtime> limits =
            subscribeToLimits(sensors(authority, client), owned.getKey());
        if (client == owned.getValue()) {
          assertThat(limits.join().getName()).isEqualTo("concurrency_limits");
        } else {
          assertThatThrownBy(limits::join)
              .hasMessageContaining("PERMISSION_DENIED")
              .hasMessageContaining("node id");
        }
      }
    }
    X509Bundle stranger =
        issued(authority).addSanDnsName("edge-1.other.local").buildIssuedBy(authority);
    assertThatThrownBy(subscribeToLimits(sensors(authority, stranger))::join)
        .hasMessageContaining("PERMISSION_DENIED")
        .hasMessageContaining("no allowed identity");
    assertThatThrownBy(subscribeToLimits(sensors())::join).hasMessageContaining("UNAVAILABLE");
    assertThat(sample("throttlekit_sensors_refused_clients_total")).isEqualTo("1.0");
  }

  @Test
  void aLimitIsPushedToSubscribersOnlyByASteeringProcess() throws Exception {
    Files.writeString(
        folder.resolve("policy.yaml"),
        """
        domain: d
        descriptors:
          - {key: c, concurrency: {gate: envoy, cluster: up, min: 7, max: 7}}
        """);
    var _ = start(Map.of());
    CompletableFuture<Runtime> notified = subscribeToLimits(sensors());
    assertThat(notified.join().getLayer().getFieldsMap())
        .containsEntry(
            "circuit_breakers.up.default.max_requests",
            Value.newBuilder().setNumberValue(7).build());
    String labels = "{domain=\"d\",rule=\"c\"}";
    assertThat(sample("throttlekit_concurrency_envoys" + labels)).isEqualTo("1.0");
    assertThat(sample("throttlekit_concurrency_refused_by_envoys_total" + labels)).isEqualTo("0.0");
    assertThat(sample("throttlekit_concurrency_shared_node_ids")).isEqualTo("0.0");
    stop();
    Map<String, String> other = Map.of("THROTTLEKIT_COMPATIBILITY_SHADOW_MODE", "true");
    try (Logged logged = Logged.by(PolicyWarnings.class)) {
      CompletableFuture<Runtime> never = subscribeToLimits(start(other));
      assertThatThrownBy(never::join).hasMessageContaining("UNIMPLEMENTED");
      assertThat(logged.lines())
          .containsExactly(
              "INFO cluster up is not controlled by this process (compatibility.shadow_mode:"
                  + " true)");
    }
  }

  /** Subscribes over ADS as Envoy does. */
  private static CompletableFuture<Runtime> subscribeToLimits(ManagedChannel client) {
    return subscribeToLimits(client, "edge-1");
  }

  private static CompletableFuture<Runtime> subscribeToLimits(ManagedChannel client, String node) {
    CompletableFuture<Runtime> notified = new CompletableFuture<>();
    StreamObserver<DiscoveryRequest> ask =
        AggregatedDiscoveryServiceGrpc.newStub(client)
            .streamAggregatedResources(
                new StreamObserver<>() {
                  @Override
                  public void onNext(DiscoveryResponse answer) {
                    try {
                      notified.complete(answer.getResources(0).unpack(Runtime.class));
                    } catch (InvalidProtocolBufferException e) {
                      notified.completeExceptionally(e);
                    }
                  }

                  @Override
                  public void onError(Throwable cause) {
                    notified.completeExceptionally(cause);
                  }

                  @Override
                  public void onCompleted() {}
                });
    ask.onNext(
        DiscoveryRequest.newBuilder()
            .setNode(Node.newBuilder().setId(node))
            .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
            .addResourceNames("concurrency_limits")
            .build());
    return notified;
  }

  private ManagedChannel start(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.putIfAbsent("THROTTLEKIT_SENSORS_LISTEN", "127.0.0.1:0");
    environment.put("THROTTLEKIT_GRPC_PORT", "0");
    environment.put("THROTTLEKIT_GRPC_HOST", "127.0.0.1");
    environment.put("THROTTLEKIT_HTTP_PORT", "0");
    environment.put("THROTTLEKIT_DEBUG_PORT", "0");
    environment.put("THROTTLEKIT_WARM_UP_REQUESTS", "0");
    Map<String, List<String>> flags = Options.of("--policies", folder.toString());
    ServiceConfig config =
        Objects.requireNonNull(new ConfigLoader(environment).load(flags).config());
    RateLimitService started = new RateLimitService(config, TimeSource.system());
    assertThat(started.start()).isTrue();
    service = started;
    ManagedChannel client =
        NettyChannelBuilder.forTarget(started.grpcAddress()).usePlaintext().build();
    channels.add(client);
    return client;
  }

  private RateLimitService service() {
    return Objects.requireNonNull(service);
  }

  /** Returns a connection to the listener for sensors. */
  private ManagedChannel sensors() {
    ManagedChannel client = NettyChannelBuilder.forTarget(sensorsAddress()).usePlaintext().build();
    channels.add(client);
    return client;
  }

  private ManagedChannel sensors(X509Bundle authority, X509Bundle client) throws SSLException {
    ManagedChannel secured =
        NettyChannelBuilder.forTarget(sensorsAddress())
            .overrideAuthority("sensors.test")
            .sslContext(
                GrpcSslContexts.forClient()
                    .trustManager(authority.getCertificate())
                    .keyManager(client.getKeyPair().getPrivate(), client.getCertificatePath())
                    .build())
            .build();
    channels.add(secured);
    return secured;
  }

  private String sensorsAddress() {
    return service()
        .readyLine()
        .replaceAll(".* sensors=(\\S+)", "$1")
        .replace("0.0.0.0", "127.0.0.1");
  }

  private static CertificateBuilder issued(X509Bundle authority) {
    return new CertificateBuilder().subject("CN=" + authority.getCertificate().getSerialNumber());
  }

  private static Status.Code endOfALog(ManagedChannel client) {
    CompletableFuture<Status> end = new CompletableFuture<>();
    var _ = AccessLogServiceGrpc.newStub(client).streamAccessLogs(new Ending(end));
    return end.join().getCode();
  }

  private static RateLimitResponse callService(ManagedChannel client) {
    return RateLimitServiceGrpc.newBlockingStub(client)
        .shouldRateLimit(TestRequests.to("d", TestRequests.entries("k", "v")));
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
