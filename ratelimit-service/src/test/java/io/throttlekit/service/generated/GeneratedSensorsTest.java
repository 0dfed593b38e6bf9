package io.throttlekit.service.generated;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Any;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.config.endpoint.v3.ClusterStats;
import io.envoyproxy.envoy.config.endpoint.v3.UpstreamLocalityStats;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DeltaDiscoveryResponse;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.runtime.v3.Runtime;
import io.envoyproxy.envoy.service.runtime.v3.RuntimeDiscoveryServiceGrpc;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.ClientBytes;
import io.throttlekit.envoy.xds.LimitServer;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.Logged;
import io.throttlekit.service.concurrency.sensors.AccessLogListener;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.LoadReportListener;
import io.throttlekit.service.concurrency.sensors.LoadReports;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.server.ServedLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Streams of damaged access logs, load reports and subscriptions: none crashes, none makes an Envoy
 * apply more than the limit, and reports of an honest Envoy beside them count. 36,000 messages of
 * each kind, 1,000,000 in the profile {@code thorough}.
 */
@Tag("slow")
class GeneratedSensorsTest {
  private static final int ROUNDS = Boolean.getBoolean("throttlekit.thorough") ? 1_000 : 36;
  private static final int MESSAGES = 1_000;
  private static final int LIMIT = 10;
  private static final String RUNTIME = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
  private static final String KEY = "circuit_breakers.up.default.max_requests";

  private final ManualTime time = new ManualTime(0);
  private final Recorded recorded = new Recorded();

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_123)
  void damagedAccessLogsAffectNoHonestEntry(long seed) {
    AccessLogs logs = new AccessLogs(recorded, new NoFault(), time, 100_000);
    var honest = WireStream.open(logs, AccessLogServiceGrpc.getStreamAccessLogsMethod());
    Hostile hostile =
        new Hostile(
            seed,
            List.of(
                new Attack<>(
                    logs,
                    AccessLogServiceGrpc.getStreamAccessLogsMethod(),
                    GeneratedSensorsTest::log)));
    for (int round = 0; round < ROUNDS; round++) {
      hostile.send(MESSAGES);
      recorded.ended.clear();
      honest.send(entry("honest", "honest-" + round, 200, 17).toByteArray());
      assertThat(recorded.ended).as("seed %d, round %d", seed, round).hasSize(1);
      assertThat(recorded.ended.getFirst().node()).isEqualTo("honest");
      time.advance(1_000);
    }
    hostile.assertReachedAll();
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_128)
  void bytesOfClientsInLogsLoseNoEntryAndEndNoStream(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    AccessLogs logs = new AccessLogs(recorded, new NoFault(), time, Integer.MAX_VALUE);
    var stream = WireStream.open(logs, AccessLogServiceGrpc.getStreamAccessLogsMethod());
    for (int i = 1; i <= MESSAGES; i++) {
      recorded.ended.clear();
      StreamAccessLogsMessage message = entry("edge", "id-" + i, 200, 17);
      for (int more = random.nextInt(3); more > 0; more--) {
        message = message.toBuilder().mergeFrom(entry("edge", "id-" + i, 200, 17)).build();
      }
      assertThat(stream.send(ClientBytes.in(message, random).sent())).isTrue();
      assertThat(recorded.ended)
          .as("seed %d, message %d", seed, i)
          .hasSize(message.getHttpLogs().getLogEntryCount());
      assertThat(stream.takesMore()).as("seed %d, message %d", seed, i).isTrue();
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_129)
  void bytesInLoadReportsLoseNoReportAndEndNoStream(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    LoadReports reports = new LoadReports(recorded, new NoCount(), time, Duration.ofSeconds(1));
    var stream = WireStream.open(reports, LoadReportingServiceGrpc.getStreamLoadStatsMethod());
    stream.send(report("edge", 0).toByteArray());
    for (int i = 1; i <= MESSAGES; i++) {
      recorded.reports.clear();
      LoadStatsRequest message = report("edge", i);
      LoadStatsRequest more = report("edge", i).toBuilder().mergeFrom(message).build();
      assertThat(stream.send(ClientBytes.in(more, random).sent())).isTrue();
      assertThat(recorded.reports)
          .as("seed %d, message %d", seed, i)
          .hasSize(2)
          .allMatch(report -> report.node().equals("edge"));
      assertThat(stream.takesMore()).as("seed %d, message %d", seed, i).isTrue();
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_130)
  void bytesInSubscriptionsEndNoStream(long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    ServedLimits server = new ServedLimits(unpaused(), time, (_, _, _) -> {});
    server.offer("up", LIMIT);
    try (Logged _ = Logged.by(LimitServer.class)) {
      for (Attack<?> attack : attacks(server)) {
        WireStream<?> stream = attack.open();
        boolean delta = attack.method().getFullMethodName().contains("/Delta");
        for (int i = 1; i <= MESSAGES / 10; i++) {
          Message message =
              delta ? deltaSubscribe("edge", "1.2.3") : subscribe("edge", "1", "1.2.3");
          // a node id may not have control characters
          byte[] sent = i == 1 ? message.toByteArray() : ClientBytes.in(message, random).sent();
          assertThat(stream.takesMore()).as("seed %d, message %d", seed, i).isTrue();
          assertThat(stream.send(sent)).as("seed %d, message %d", seed, i).isTrue();
          time.advance(100);
          server.tick();
        }
        stream.cancel();
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_124)
  void damagedLoadReportsAffectNoHonestReport(long seed) {
    LoadReports reports = new LoadReports(recorded, new NoCount(), time, Duration.ofSeconds(1));
    var honest = WireStream.open(reports, LoadReportingServiceGrpc.getStreamLoadStatsMethod());
    Hostile hostile =
        new Hostile(
            seed,
            List.of(
                new Attack<>(
                    reports,
                    LoadReportingServiceGrpc.getStreamLoadStatsMethod(),
                    random -> report(node(random), random.nextLong()))));
    for (int round = 0; round < ROUNDS; round++) {
      hostile.send(MESSAGES);
      recorded.reports.clear();
      honest.send(report("honest", round).toByteArray());
      assertThat(recorded.reports).as("seed %d, round %d", seed, round).hasSize(1);
      assertThat(recorded.reports.getFirst().node()).isEqualTo("honest");
      assertThat(recorded.reports.getFirst().load().inProgress()).isEqualTo(round);
      time.advance(1_000);
    }
    hostile.assertReachedAll();
  }

  /** Over ADS and over a runtime discovery service alone, each in both variants of xDS. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = 20_261_125)
  void damagedSubscriptionsNeverExceedTheLimit(long seed) throws Exception {
    List<Integer> acknowledged = new ArrayList<>();
    ServedLimits server =
        new ServedLimits(unpaused(), time, (_, requests, _) -> acknowledged.add(requests));
    server.offer("up", LIMIT);
    List<Attack<?>> attacks = attacks(server);
    Hostile hostile = new Hostile(seed, attacks);
    Set<Class<?>> variants = new HashSet<>();
    try (Logged errors = Logged.by(LimitServer.class)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (Message pushed : hostile.send(MESSAGES)) {
          variants.add(pushed.getClass());
          assertThat(share(pushed))
              .as("seed %d, round %d", seed, round)
              .isBetween(0.0, 0.0 + LIMIT);
        }
        time.advance(100);
        server.tick();
      }
      assertThat(errors.linesWithCauses())
          .filteredOn(line -> line.contains("SEVERE"))
          .as("seed %d", seed)
          .isEmpty();
    }
    hostile.leave();
    time.advance(60_000);
    server.tick();
    assertThat(acknowledged).as("seed %d", seed).allMatch(requests -> requests <= LIMIT);
    for (Attack<?> attack : attacks) {
      WireStream<?> honest = attack.open();
      boolean delta = attack.method().getFullMethodName().contains("/Delta");
      Message subscription = delta ? deltaSubscribe("honest", "") : subscribe("honest", "", "");
      honest.send(subscription.toByteArray());
      server.tick();
      assertThat(honest.received())
          .as("sent to an honest Envoy afterwards over %s", attack.method())
          .isNotEmpty();
      honest.cancel();
    }
    assertThat(variants)
        .containsExactlyInAnyOrder(DiscoveryResponse.class, DeltaDiscoveryResponse.class);
    hostile.assertReachedAll();
  }

  /** Returns settings with which messages are read without a pause, which real time would end. */
  private static LimitServerSettings unpaused() {
    LimitServerSettings defaults = LimitServerSettings.DEFAULT;
    return new LimitServerSettings(
        defaults.resource(),
        defaults.maxStreams(),
        defaults.lease(),
        defaults.turn(),
        Duration.ZERO);
  }

  private static List<Attack<?>> attacks(ServedLimits server) {
    return List.of(
        attack(
            server,
            AggregatedDiscoveryServiceGrpc.getStreamAggregatedResourcesMethod(),
            GeneratedSensorsTest::subscription),
        attack(
            server,
            RuntimeDiscoveryServiceGrpc.getStreamRuntimeMethod(),
            GeneratedSensorsTest::subscription),
        attack(
            server,
            AggregatedDiscoveryServiceGrpc.getDeltaAggregatedResourcesMethod(),
            GeneratedSensorsTest::deltaSubscription),
        attack(
            server,
            RuntimeDiscoveryServiceGrpc.getDeltaRuntimeMethod(),
            GeneratedSensorsTest::deltaSubscription));
  }

  private static StreamAccessLogsMessage log(RandomGenerator random) {
    return entry(
        node(random), "id-" + random.nextInt(100), random.nextInt(700), random.nextInt(5_000));
  }

  private static StreamAccessLogsMessage entry(String node, String id, int status, int millis) {
    HTTPAccessLogEntry.Builder entry = HTTPAccessLogEntry.newBuilder();
    entry.getRequestBuilder().setRequestId(id).setPath("/");
    entry.getResponseBuilder().getResponseCodeBuilder().setValue(status);
    com.google.protobuf.Duration took =
        com.google.protobuf.Duration.newBuilder()
            .setNanos(millis * 1_000_000 % 1_000_000_000)
            .build();
    entry
        .getCommonPropertiesBuilder()
        .setUpstreamCluster("up")
        .setTimeToFirstUpstreamTxByte(com.google.protobuf.Duration.newBuilder().setNanos(1_000))
        .setTimeToLastUpstreamTxByte(com.google.protobuf.Duration.newBuilder().setNanos(2_000))
        .setTimeToFirstUpstreamRxByte(took)
        .setTimeToLastUpstreamRxByte(took)
        .setTimeToLastDownstreamTxByte(took)
        .getStartTimeBuilder()
        .setSeconds(1_700_000_000);
    StreamAccessLogsMessage.Builder message = StreamAccessLogsMessage.newBuilder();
    message.getIdentifierBuilder().getNodeBuilder().setId(node);
    message.getHttpLogsBuilder().addLogEntry(entry);
    return message.build();
  }

  private static LoadStatsRequest report(String node, long inProgress) {
    UpstreamLocalityStats stats =
        UpstreamLocalityStats.newBuilder().setTotalRequestsInProgress(inProgress).build();
    return LoadStatsRequest.newBuilder()
        .setNode(Node.newBuilder().setId(node))
        .addClusterStats(
            ClusterStats.newBuilder().setClusterName("up").addUpstreamLocalityStats(stats))
        .build();
  }

  private static DiscoveryRequest subscription(RandomGenerator random) {
    String nonce = Integer.toString(random.nextInt(50));
    DiscoveryRequest request = subscribe(node(random), random.nextBoolean() ? nonce : "", nonce);
    return switch (random.nextInt(4)) {
      case 0 -> request.toBuilder().clearResourceNames().build();
      case 1 ->
          request.toBuilder().setErrorDetail(com.google.rpc.Status.getDefaultInstance()).build();
      default -> request;
    };
  }

  private static DiscoveryRequest subscribe(String node, String nonce, String version) {
    return DiscoveryRequest.newBuilder()
        .setNode(Node.newBuilder().setId(node))
        .setTypeUrl(RUNTIME)
        .setVersionInfo(version)
        .setResponseNonce(nonce)
        .addResourceNames(LimitServerSettings.DEFAULT.resource())
        .build();
  }

  private static DeltaDiscoveryRequest deltaSubscription(RandomGenerator random) {
    String nonce = Integer.toString(random.nextInt(50));
    DeltaDiscoveryRequest request =
        deltaSubscribe(node(random), nonce).toBuilder()
            .setResponseNonce(random.nextBoolean() ? nonce : "")
            .build();
    return switch (random.nextInt(4)) {
      case 0 ->
          request.toBuilder()
              .clearResourceNamesSubscribe()
              .addResourceNamesUnsubscribe(LimitServerSettings.DEFAULT.resource())
              .build();
      case 1 ->
          request.toBuilder().setErrorDetail(com.google.rpc.Status.getDefaultInstance()).build();
      default -> request;
    };
  }

  private static DeltaDiscoveryRequest deltaSubscribe(String node, String version) {
    return DeltaDiscoveryRequest.newBuilder()
        .setNode(Node.newBuilder().setId(node))
        .setTypeUrl(RUNTIME)
        .putInitialResourceVersions(LimitServerSettings.DEFAULT.resource(), version)
        .addResourceNamesSubscribe(LimitServerSettings.DEFAULT.resource())
        .build();
  }

  private static String node(RandomGenerator random) {
    return "edge-" + random.nextInt(9);
  }

  private static double share(Message pushed) throws Exception {
    Any resource =
        pushed instanceof DeltaDiscoveryResponse delta
            ? delta.getResources(0).getResource()
            : ((DiscoveryResponse) pushed).getResources(0);
    Struct layer = resource.unpack(Runtime.class).getLayer();
    return layer.containsFields(KEY) ? layer.getFieldsOrThrow(KEY).getNumberValue() : 0;
  }

  private static <A extends Message> Attack<A> attack(
      ServedLimits server,
      MethodDescriptor<?, A> method,
      Function<RandomGenerator, Message> messages) {
    BindableService service =
        server.services().stream()
            .filter(each -> each.bindService().getMethod(method.getFullMethodName()) != null)
            .findFirst()
            .orElseThrow();
    return new Attack<>(service, method, messages);
  }

  /** Fails if an entry could not be used because of a bug. */
  private static final class NoFault implements AccessLogListener {
    @Override
    public void opened() {}

    @Override
    public void closed() {}

    @Override
    public void rejected() {}

    @Override
    public void withoutNode(int entries) {}

    @Override
    public void read(Reading reading) {}

    @Override
    public void skipped(Skipped why, int entries) {
      assertThat(why).isNotEqualTo(Skipped.FAILED);
    }
  }

  private static final class NoCount implements LoadReportListener {
    @Override
    public void opened() {}

    @Override
    public void closed() {}

    @Override
    public void rejected() {}

    @Override
    public void reported() {}

    @Override
    public void impossible() {}
  }
}
