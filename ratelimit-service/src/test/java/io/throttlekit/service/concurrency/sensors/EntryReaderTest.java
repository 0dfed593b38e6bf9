package io.throttlekit.service.concurrency.sensors;

import static io.throttlekit.service.concurrency.sensors.Entries.EXT_AUTHZ;
import static io.throttlekit.service.concurrency.sensors.Entries.MS;
import static io.throttlekit.service.concurrency.sensors.Entries.RATE_LIMIT;
import static io.throttlekit.service.concurrency.sensors.Entries.answered;
import static io.throttlekit.service.concurrency.sensors.Entries.duration;
import static io.throttlekit.service.concurrency.sensors.Entries.flagged;
import static io.throttlekit.service.concurrency.sensors.Entries.leased;
import static io.throttlekit.service.concurrency.sensors.Entries.local;
import static io.throttlekit.service.concurrency.sensors.Entries.metadata;
import static io.throttlekit.service.concurrency.sensors.Entries.sent;
import static io.throttlekit.service.concurrency.sensors.Entries.unsent;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.RequestMethod;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogType;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.ResponseFlags;
import io.throttlekit.service.concurrency.Ending;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class EntryReaderTest {
  private static final Ending NOTHING = Ending.Plain.UNKNOWN;

  @ParameterizedTest
  @ValueSource(ints = {200, 204, 301, 400, 404})
  void anAnswerOfTheBackendIsASampleOfItsLatency(int code) {
    Reading reading = read(answered(code));
    assertThat(reading)
        .isEqualTo(new Reading(Kind.ANSWERED, "up", 19 * MS, List.of(), false, "", ""));
    assertThat(reading.ending()).isEqualTo(new Ending.Measured(19 * MS));
    assertThat(reading.kind().isError()).isFalse();
  }

  /** All entries other than plain answers: their kind, their sample, and errors. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("rows")
  void everyOtherEndHasItsKind(
      String row, HTTPAccessLogEntry.Builder entry, Kind kind, Ending ending, boolean error) {
    Reading reading = read(leased(entry, RATE_LIMIT, "L"));
    assertThat(reading.kind()).isEqualTo(kind);
    assertThat(reading.ending()).isEqualTo(ending);
    assertThat(reading.kind().isError()).isEqualTo(error);
    assertThat(reading.permits()).as("a lease ends, however its request does").containsExactly("L");
    assertThat(reading.rttNanos()).isZero();
  }

  static Stream<Arguments> rows() {
    return Stream.of(
        row("500 of the backend", answered(500), Kind.SERVER_ERROR, NOTHING, true),
        row("504 of the backend", answered(504), Kind.SERVER_ERROR, NOTHING, true),
        row("503 of the backend", answered(503), Kind.SHED, NOTHING, true),
        row("429 of the backend", answered(429), Kind.SHED, NOTHING, true),
        row("RL", flag(local(429), f -> f.setRateLimited(true)), Kind.RATE_LIMITED),
        row("RL as 503", flag(local(503), f -> f.setRateLimited(true)), Kind.RATE_LIMITED),
        row("RLSE, denied", flag(local(500), f -> f.setRateLimitServiceError(true))),
        row("UAEX", flag(local(403), EntryReaderTest::unauthorized), Kind.UNAUTHORIZED),
        row("UAEX of gRPC", flag(local(200), EntryReaderTest::unauthorized), Kind.UNAUTHORIZED),
        row("UO", flag(unsent(503), f -> f.setUpstreamOverflow(true)), Kind.LIMIT_REACHED),
        row("UO of the queue", flag(queued(), f -> f.setUpstreamOverflow(true)), Kind.QUEUE_FULL),
        row("UO of retries", flag(sent(503), f -> f.setUpstreamOverflow(true)), Kind.RETRIED),
        row(
            "UT",
            flag(sent(504), f -> f.setUpstreamRequestTimeout(true)),
            Kind.TIMED_OUT,
            Ending.Plain.TIMED_OUT,
            true),
        row(
            "UT after the headers",
            flag(answered(200), f -> f.setUpstreamRequestTimeout(true)),
            Kind.ABORTED),
        row(
            "UT of the last attempt",
            flag(retried(sent(504)), f -> f.setUpstreamRequestTimeout(true)),
            Kind.TIMED_OUT,
            Ending.Plain.TIMED_OUT,
            true),
        row("DC", flag(sent(0), f -> f.setDownstreamConnectionTermination(true)), Kind.CLIENT_LEFT),
        row("DR", flag(sent(0), f -> f.setDownstreamRemoteReset(true)), Kind.CLIENT_LEFT),
        failed("UF", flag(unsent(503), f -> f.setUpstreamConnectionFailure(true))),
        failed("UC", flag(sent(503), f -> f.setUpstreamConnectionTermination(true))),
        failed("UR", flag(sent(503), f -> f.setUpstreamRemoteReset(true))),
        failed("LR", flag(sent(503), f -> f.setLocalReset(true))),
        failed("UPE", flag(sent(502), f -> f.setUpstreamProtocolError(true))),
        failed("DF", flag(local(503), f -> f.setDnsResolutionFailure(true))),
        failed("LH", flag(local(503), f -> f.setFailedLocalHealthcheck(true))),
        row("UH", flag(local(503), f -> f.setNoHealthyUpstream(true)), Kind.NO_HOST),
        row("NR", flag(local(404), f -> f.setNoRouteFound(true)), Kind.NO_HOST),
        row("NC", flag(local(503), f -> f.setNoClusterFound(true)), Kind.NO_HOST),
        row("NFCF", flag(local(500), f -> f.setNoFilterConfigFound(true)), Kind.NO_HOST),
        row("DI", flag(answered(200), f -> f.setDelayInjected(true)), Kind.INJECTED),
        row("FI", flag(local(503), f -> f.setFaultInjected(true)), Kind.INJECTED),
        row("URX", flag(answered(503), f -> f.setUpstreamRetryLimitExceeded(true)), Kind.RETRIED),
        row("two attempts", retried(answered(200)), Kind.RETRIED),
        row("SI", flag(sent(408), f -> f.setStreamIdleTimeout(true)), Kind.ABORTED),
        row("DT", flag(sent(0), f -> f.setDurationTimeout(true)), Kind.ABORTED),
        row(
            "UMSDR",
            flag(sent(408), f -> f.setUpstreamMaxStreamDurationReached(true)),
            Kind.ABORTED),
        row("OM", flag(local(503), f -> f.setOverloadManager(true)), Kind.ABORTED),
        row("DPE", flag(local(400), f -> f.setDownstreamProtocolError(true)), Kind.ABORTED),
        row("IH", flag(local(400), f -> f.setInvalidEnvoyRequestHeaders(true)), Kind.ABORTED),
        row("from a cache", flag(local(200), f -> f.setResponseFromCacheFilter(true))),
        row("a direct response", local(200), Kind.LOCAL_REPLY),
        row("answered, with no code", answered(0), Kind.UNTIMED),
        row("answered, with a code that is none", answered(9_999), Kind.UNTIMED),
        row("sent, never answered, no flag", sent(200), Kind.UNTIMED),
        row("gRPC UNAVAILABLE", grpc("14"), Kind.SHED, NOTHING, true),
        row("gRPC RESOURCE_EXHAUSTED", grpc("8"), Kind.SHED, NOTHING, true),
        row("gRPC INTERNAL", grpc("13"), Kind.SERVER_ERROR, NOTHING, true),
        row("gRPC DEADLINE_EXCEEDED", grpc("4"), Kind.SERVER_ERROR, NOTHING, true));
  }

  @Test
  void aRequestAdmittedWithoutTheServiceIsAnUnmarkedSample() {
    assertThat(read(answered(200)).marked()).isFalse();
    assertThat(read(flag(answered(200), f -> f.setRateLimitServiceError(true))).kind())
        .isEqualTo(Kind.ANSWERED);
    assertThat(read(metadata(answered(200), RATE_LIMIT, Value.getDefaultInstance())).marked())
        .isTrue();
    assertThat(read(metadata(answered(200), "another.filter", text("L"))))
        .isEqualTo(read(answered(200)));
  }

  @Test
  void leasesComeFromEitherFilterAndFromBoth() {
    assertThat(read(leased(answered(200), EXT_AUTHZ, "A")).permits()).containsExactly("A");
    assertThat(read(leased(leased(answered(200), RATE_LIMIT, "R"), EXT_AUTHZ, "A")).permits())
        .containsExactly("A", "R");
    assertThat(read(leased(leased(answered(200), RATE_LIMIT, "A"), EXT_AUTHZ, "A")).permits())
        .containsExactly("A");
    HTTPAccessLogEntry.Builder denied =
        leased(flag(local(429), f -> f.setRateLimited(true)), EXT_AUTHZ, "A");
    assertThat(read(denied).permits())
        .as("authorized with a lease, and then rate limited")
        .containsExactly("A");
  }

  @Test
  void anInvalidLeaseIdEndsNoLease() {
    for (Value value :
        List.of(
            Value.getDefaultInstance(),
            text(""),
            text("x".repeat(129)),
            Value.newBuilder().setNumberValue(Double.NaN).build(),
            Value.newBuilder().setBoolValue(true).build())) {
      assertThat(read(metadata(answered(200), RATE_LIMIT, value)).permits()).isEmpty();
    }
    assertThat(read(leased(answered(200), RATE_LIMIT, "x".repeat(128))).permits()).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheEndOfARequestEndsIt(AccessLogType type) {
    if (type == AccessLogType.UNRECOGNIZED) {
      HTTPAccessLogEntry.Builder unknown = answered(200);
      unknown.getCommonPropertiesBuilder().setAccessLogTypeValue(99);
      assertThat(read(unknown).kind()).isEqualTo(Kind.CONTINUES);
      return;
    }
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry.getCommonPropertiesBuilder().setAccessLogType(type);
    boolean ends = type == AccessLogType.NotSet || type == AccessLogType.DownstreamEnd;
    assertThat(read(entry).kind()).isEqualTo(ends ? Kind.ANSWERED : Kind.CONTINUES);
    assertThat(read(Entries.goingOn(entry)).kind().ends()).isFalse();
  }

  @ParameterizedTest(name = "from {0} to {1}")
  @MethodSource("nonsense")
  void nonsensicalTimesAreNoSample(Duration first, Duration last) {
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToFirstUpstreamTxByte(first)
        .setTimeToLastUpstreamRxByte(last);
    assertThat(read(entry)).isEqualTo(new Reading(Kind.UNTIMED, "up", 0, List.of(), false, "", ""));
  }

  static Stream<Arguments> nonsense() {
    Duration two = duration(2 * MS);
    Duration negative = Duration.newBuilder().setNanos(-5_000_000).build();
    Duration longAgo = Duration.newBuilder().setSeconds(Long.MIN_VALUE).build();
    Duration farAway = Duration.newBuilder().setSeconds(Long.MAX_VALUE).build();
    Duration overfull = Duration.newBuilder().setNanos(2_000_000_000).build();
    Duration day = Duration.newBuilder().setSeconds(86_401).build();
    return Stream.of(
        Arguments.of(two, two),
        Arguments.of(two, duration(1)),
        Arguments.of(two, Duration.getDefaultInstance()),
        Arguments.of(negative, two),
        Arguments.of(longAgo, two),
        Arguments.of(farAway, farAway),
        Arguments.of(two, negative),
        Arguments.of(two, farAway),
        Arguments.of(two, overfull),
        Arguments.of(two, day));
  }

  @Test
  void theLatencyOfASwitchedProtocolEndsWithItsFirstByte() {
    Reading webSocket = read(answered(101));
    assertThat(webSocket.rttNanos()).isEqualTo(18 * MS);
    HTTPAccessLogEntry.Builder connect = answered(200);
    connect.getRequestBuilder().setRequestMethod(RequestMethod.CONNECT);
    assertThat(read(connect).rttNanos()).isEqualTo(18 * MS);
  }

  @Test
  void aSlowUploadIsNotBackendLatency() {
    HTTPAccessLogEntry.Builder upload = answered(200);
    upload
        .getCommonPropertiesBuilder()
        .setTimeToLastUpstreamTxByte(duration(5_000 * MS))
        .setTimeToFirstUpstreamRxByte(duration(5_018 * MS))
        .setTimeToLastUpstreamRxByte(duration(5_020 * MS));
    assertThat(read(upload).rttNanos()).isEqualTo(20 * MS);
  }

  @Test
  void anAnswerDuringTheUploadIsMeasuredFromTheFirstByte() {
    HTTPAccessLogEntry.Builder duplex = answered(200);
    duplex.getCommonPropertiesBuilder().setTimeToLastUpstreamTxByte(duration(21 * MS));
    assertThat(read(duplex).rttNanos()).isEqualTo(20 * MS);
  }

  @Test
  void aSlowReaderIsNotBackendLatency() {
    HTTPAccessLogEntry.Builder slow = answered(200);
    slow.getCommonPropertiesBuilder()
        .setTimeToLastUpstreamRxByte(duration(4_000 * MS))
        .setTimeToLastDownstreamTxByte(duration(4_500 * MS));
    assertThat(read(slow).rttNanos()).isEqualTo(17 * MS);
    slow.getCommonPropertiesBuilder().setTimeToLastDownstreamTxByte(duration(4_001 * MS));
    assertThat(read(slow).rttNanos()).as("a slow backend").isEqualTo(3_997 * MS);
  }

  @Test
  void aRequestIsGroupedByRouteOrPathPrefix() {
    HTTPAccessLogEntry.Builder entry = answered(200);
    assertThat(read(entry).route()).isEmpty();
    entry.getRequestBuilder().setPath("/reports/2026?month=5");
    assertThat(read(entry).route()).isEqualTo("/reports");
    entry.getRequestBuilder().setPath("/reports?month=5");
    assertThat(read(entry).route()).isEqualTo("/reports");
    entry.getRequestBuilder().setPath("/" + "x".repeat(100_000));
    assertThat(read(entry).route()).hasSize(64);
    entry.getCommonPropertiesBuilder().setRouteName("orders");
    assertThat(read(entry).route()).isEqualTo("orders");
    entry.getCommonPropertiesBuilder().setRouteName("y".repeat(100_000));
    assertThat(read(entry).route()).hasSize(64);
  }

  @Test
  void aClientIsIdentifiedByItsAddressWithoutPort() {
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry
        .getCommonPropertiesBuilder()
        .getDownstreamRemoteAddressBuilder()
        .getSocketAddressBuilder()
        .setAddress("127.0.0.9")
        .setPortValue(40_000);
    assertThat(read(entry).client()).isEqualTo("127.0.0.9");
    entry
        .getCommonPropertiesBuilder()
        .getDownstreamRemoteAddressBuilder()
        .getSocketAddressBuilder()
        .setAddress("9".repeat(100_000));
    assertThat(read(entry).client()).as("no address is so long").isEmpty();
  }

  @Test
  void theHostsClockDoesNotMatter() {
    HTTPAccessLogEntry.Builder later = answered(200);
    later
        .getCommonPropertiesBuilder()
        .getStartTimeBuilder()
        .setSeconds(Entries.START_SECONDS + 3_600);
    HTTPAccessLogEntry.Builder never = answered(200);
    never.getCommonPropertiesBuilder().clearStartTime().clearDuration();
    assertThat(List.of(read(later), read(never))).containsOnly(read(answered(200)));
  }

  /** Any bytes that parse as an entry are read, and samples are above 0 and below a day. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 20_261_123})
  void anyEntryIsRead(long seed) {
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    byte[] good =
        leased(answered(200), RATE_LIMIT, "L").setProtocolVersionValue(7).build().toByteArray();
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = good.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      }
      HTTPAccessLogEntry entry;
      try {
        entry = HTTPAccessLogEntry.parseFrom(bytes);
      } catch (InvalidProtocolBufferException e) {
        continue;
      }
      Reading reading = EntryReader.read(entry);
      read++;
      assertThat(reading.rttNanos()).isBetween(0L, 86_400_000 * MS);
      assertThat(reading.rttNanos() > 0).isEqualTo(reading.kind().isSample());
    }
    assertThat(read).as("some are entries").isGreaterThan(1_000);
  }

  private static Reading read(HTTPAccessLogEntry.Builder entry) {
    return EntryReader.read(entry.build());
  }

  private static HTTPAccessLogEntry.Builder flag(
      HTTPAccessLogEntry.Builder entry, Consumer<ResponseFlags.Builder> flag) {
    return flagged(entry, flag);
  }

  private static void unauthorized(ResponseFlags.Builder flags) {
    flags.setUnauthorizedDetails(
        ResponseFlags.Unauthorized.newBuilder()
            .setReason(ResponseFlags.Unauthorized.Reason.EXTERNAL_SERVICE));
  }

  /** Returns a request that waited for a connection and had no host. */
  private static HTTPAccessLogEntry.Builder queued() {
    HTTPAccessLogEntry.Builder entry = local(503);
    entry.getCommonPropertiesBuilder().setUpstreamRequestAttemptCount(1);
    return entry;
  }

  private static HTTPAccessLogEntry.Builder retried(HTTPAccessLogEntry.Builder entry) {
    entry.getCommonPropertiesBuilder().setUpstreamRequestAttemptCount(2);
    return entry;
  }

  private static HTTPAccessLogEntry.Builder grpc(String status) {
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry.getResponseBuilder().putResponseTrailers("grpc-status", status);
    return entry;
  }

  private static Value text(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }

  private static Arguments failed(String row, HTTPAccessLogEntry.Builder entry) {
    return row(row, entry, Kind.CONNECTION_FAILED, NOTHING, true);
  }

  private static Arguments row(String row, HTTPAccessLogEntry.Builder entry) {
    return row(row, entry, Kind.LOCAL_REPLY);
  }

  private static Arguments row(String row, HTTPAccessLogEntry.Builder entry, Kind kind) {
    return row(row, entry, kind, NOTHING, false);
  }

  private static Arguments row(
      String row, HTTPAccessLogEntry.Builder entry, Kind kind, Ending ending, boolean error) {
    return Arguments.of(row, entry, kind, ending, error);
  }
}
