package io.throttlekit.service.concurrency.sensors;

import static io.throttlekit.service.concurrency.sensors.Entries.RATE_LIMIT;
import static io.throttlekit.service.concurrency.sensors.Entries.answered;
import static io.throttlekit.service.concurrency.sensors.Entries.flagged;
import static io.throttlekit.service.concurrency.sensors.Entries.identified;
import static io.throttlekit.service.concurrency.sensors.Entries.leased;
import static io.throttlekit.service.concurrency.sensors.Entries.local;
import static io.throttlekit.service.concurrency.sensors.Entries.sent;
import static io.throttlekit.service.concurrency.sensors.Entries.unsent;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.data.accesslog.v3.TCPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.Identifier;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.TCPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.throttlekit.ManualTime;
import io.throttlekit.envoy.NodeIds;
import io.throttlekit.service.Logged;
import io.throttlekit.service.concurrency.sensors.AccessLogListener.Skipped;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessLogsTest {
  private static final int PER_SECOND = 100;
  private static final int MANY_STREAMS = 20_000;

  private final ManualTime time = new ManualTime(0);
  private final Recorded recorded = new Recorded();
  private final LogCounts counts = new LogCounts();
  private final AccessLogs logs = new AccessLogs(recorded, counts, time, PER_SECOND);

  /** The readings do not depend on order, duplicates, batches, or other lost entries. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 20_261_123})
  void readingsDoNotDependOnTheSplitIntoMessages(long seed) {
    Random random = new Random(seed);
    List<HTTPAccessLogEntry> sent = new ArrayList<>(day(random, 400));
    Map<Reading, Long> expected =
        sent.stream()
            .map(EntryReader::read)
            .filter(reading -> reading.kind().ends())
            .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    List<HTTPAccessLogEntry> copies = new ArrayList<>(sent);
    for (HTTPAccessLogEntry entry : sent) {
      Reading reading = EntryReader.read(entry);
      if (reading.kind().ends() && reading.counts() && random.nextInt(3) == 0) {
        copies.add(entry);
      }
    }
    Collections.shuffle(copies, random);
    List<StreamObserver<StreamAccessLogsMessage>> streams = List.of(open(), open(), open());
    int at = 0;
    while (at < copies.size()) {
      int size = Math.min(1 + random.nextInt(9), copies.size() - at);
      StreamAccessLogsMessage.Builder message = message(copies.subList(at, at + size));
      streams.get(random.nextInt(3)).onNext(named(message, "edge-1"));
      time.advance(1_000); // so that no sample is evicted
      at += size;
    }
    assertThat(tally(recorded.readings())).isEqualTo(expected);
    assertThat(counts.skipped)
        .containsExactly(Map.entry(Skipped.DUPLICATE, copies.size() - sent.size()));
    assertThat(recorded.ended).allMatch(each -> each.node().equals("edge-1"));
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void lostEntriesChangeNoOtherReading(long seed) {
    Random random = new Random(seed);
    List<HTTPAccessLogEntry> all = day(random, 200);
    List<HTTPAccessLogEntry> kept = all.stream().filter(_ -> random.nextInt(10) > 0).toList();
    StreamObserver<StreamAccessLogsMessage> stream = open();
    for (HTTPAccessLogEntry entry : kept) {
      stream.onNext(message(List.of(entry)).build());
      time.advance(1_000);
    }
    assertThat(recorded.readings())
        .isEqualTo(
            kept.stream().map(EntryReader::read).filter(read -> read.kind().ends()).toList());
    assertThat(kept).hasSizeLessThan(all.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {-3_600, -1, 0, 3_600})
  void aWrongClockChangesNothing(long seconds) {
    StreamObserver<StreamAccessLogsMessage> stream = open();
    List<Long> began = new ArrayList<>();
    for (int i = 0; i < 5; i++) { // one arrives at once, the others up to 400 ms late
      HTTPAccessLogEntry.Builder entry = identified(answered(200), "r" + i, i * 100L);
      entry
          .getCommonPropertiesBuilder()
          .getStartTimeBuilder()
          .setSeconds(Entries.START_SECONDS + seconds);
      stream.onNext(message(List.of(entry.build())).build());
      began.add(recorded.ended.getLast().beganNanos());
      time.advance(200);
    }
    assertThat(recorded.readings()).containsOnly(EntryReader.read(answered(200).build()));
    // The first, which arrived soonest, counts as ended on arrival: 21 ms after it was sent.
    assertThat(began).containsExactly(ms(-21), ms(79), ms(179), ms(279), ms(379));
  }

  @Test
  void aFloodOfDenialsDisplacesNoSamples() {
    StreamObserver<StreamAccessLogsMessage> stream = open();
    HTTPAccessLogEntry denied = flagged(local(429), f -> f.setRateLimited(true)).build();
    for (int second = 0; second < 3; second++) {
      for (int i = 0; i < PER_SECOND; i++) {
        List<HTTPAccessLogEntry> flood = new ArrayList<>(Collections.nCopies(200, denied));
        flood.add(identified(answered(200), "s" + second + "-" + i, i).build());
        stream.onNext(message(flood).build());
      }
      time.advance(1_000);
    }
    assertThat(recorded.count(Kind.ANSWERED)).isEqualTo(3 * PER_SECOND);
    assertThat(recorded.count(Kind.RATE_LIMITED)).isEqualTo(3 * PER_SECOND * 200);
    assertThat(counts.skipped).isEmpty();
  }

  @Test
  void samplesBeyondTheBudgetAreSkippedButEndTheirLeases() {
    StreamObserver<StreamAccessLogsMessage> stream = open();
    List<HTTPAccessLogEntry> many = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      many.add(leased(i % 2 == 0 ? answered(200) : timedOut(), RATE_LIMIT, "L" + i).build());
    }
    many.add(
        leased(flagged(unsent(503), f -> f.setUpstreamOverflow(true)), RATE_LIMIT, "M").build());
    stream.onNext(message(many).build());
    assertThat(recorded.count(Kind.ANSWERED)).isEqualTo(PER_SECOND / 2);
    assertThat(recorded.count(Kind.TIMED_OUT))
        .as("or drops would outweigh")
        .isEqualTo(PER_SECOND / 2);
    assertThat(recorded.count(Kind.CROWDED_OUT)).isEqualTo(50);
    assertThat(recorded.count(Kind.LIMIT_REACHED)).isEqualTo(1);
    assertThat(recorded.readings()).allMatch(reading -> reading.permits().size() == 1);
    time.advance(1_000);
    stream.onNext(message(List.of(identified(answered(200), "later", 0).build())).build());
    assertThat(recorded.readings().getLast().kind()).isEqualTo(Kind.ANSWERED);
    assertThat(counts.read).containsEntry(Kind.CROWDED_OUT, 50);
  }

  @Test
  void theFirstMessageIdentifiesTheNodeOfTheStream() {
    StreamObserver<StreamAccessLogsMessage> stream = open();
    stream.onNext(named(message(List.of()), "edge-1"));
    stream.onNext(message(List.of(answered(200).build())).build());
    assertThat(recorded.ended.getLast().node()).isEqualTo("edge-1");
    assertThat(counts.withoutNode).isZero();
  }

  @Test
  void aMissingOrInvalidNodeIdIsAcceptedAndCounted() {
    StreamObserver<StreamAccessLogsMessage> silent = open();
    silent.onNext(message(List.of(answered(200).build(), answered(404).build())).build());
    StreamObserver<StreamAccessLogsMessage> nameless = open();
    nameless.onNext(named(message(List.of(answered(200).build())), ""));
    StreamObserver<StreamAccessLogsMessage> boundless = open();
    boundless.onNext(named(message(List.of(answered(200).build())), "x".repeat(257)));
    boundless.onNext(named(message(List.of(answered(200).build())), "edge\nERROR all is lost"));
    assertThat(recorded.ended).hasSize(5).allMatch(each -> each.node().isEmpty());
    assertThat(counts.withoutNode).isEqualTo(5);
  }

  @Test
  void duplicatesAreRecognizedPerEnvoyAndRequest() {
    HTTPAccessLogEntry.Builder entry = identified(answered(200), "same-id", 0);
    HTTPAccessLogEntry one = entry.build();
    HTTPAccessLogEntry later = identified(entry, "same-id", 5).build();
    StreamObserver<StreamAccessLogsMessage> edge = open();
    edge.onNext(named(message(List.of(one, one, later)), "edge"));
    open().onNext(named(message(List.of(one)), "inner"));
    assertThat(recorded.ended)
        .as("a client may resend the same id, and the next proxy does")
        .hasSize(3);
    assertThat(counts.skipped).containsExactly(Map.entry(Skipped.DUPLICATE, 1));
    HTTPAccessLogEntry nameless = answered(200).build();
    edge.onNext(message(List.of(nameless, nameless)).build());
    assertThat(recorded.ended).as("duplicates cannot be recognized").hasSize(5);
  }

  @Test
  void aLeaseNamedByTwoLogsEndsOnce() {
    HTTPAccessLogEntry.Builder entry = leased(answered(200), RATE_LIMIT, "L");
    open().onNext(named(message(List.of(identified(entry, "a", 0).build())), "edge"));
    open().onNext(named(message(List.of(identified(entry, "b", 9).build())), "other"));
    assertThat(recorded.ended).hasSize(1);
  }

  @Test
  void entriesThatEndNoRequestAreOnlyCounted() {
    HTTPAccessLogEntry.Builder periodic = Entries.goingOn(answered(200));
    StreamAccessLogsMessage tcp =
        StreamAccessLogsMessage.newBuilder()
            .setTcpLogs(
                TCPAccessLogEntries.newBuilder()
                    .addLogEntry(TCPAccessLogEntry.getDefaultInstance())
                    .addLogEntry(TCPAccessLogEntry.getDefaultInstance()))
            .build();
    StreamObserver<StreamAccessLogsMessage> stream = open();
    stream.onNext(message(List.of(periodic.build())).build());
    stream.onNext(tcp);
    stream.onNext(StreamAccessLogsMessage.getDefaultInstance());
    assertThat(recorded.ended).isEmpty();
    assertThat(counts.read).containsExactly(Map.entry(Kind.CONTINUES, 1));
    assertThat(counts.skipped).containsExactly(Map.entry(Skipped.TCP, 2));
  }

  @Test
  void entriesOfAMessageAreBounded() {
    StreamObserver<StreamAccessLogsMessage> stream = open();
    stream.onNext(message(Collections.nCopies(10_007, local(404).build())).build());
    assertThat(recorded.ended).hasSize(10_000);
    assertThat(counts.skipped).containsExactly(Map.entry(Skipped.TOO_MANY, 7));
  }

  /** The server has the one bound, {@code sensors.max_streams}. */
  @Test
  void doesNotBoundStreamsItself() {
    List<FakeCall<StreamAccessLogsResponse>> calls = new ArrayList<>();
    for (int i = 0; i < MANY_STREAMS; i++) {
      calls.add(opened());
    }
    assertThat(calls).allMatch(call -> call.ended == null);
    assertThat(counts.streams).isEqualTo(MANY_STREAMS);
    calls.getFirst().cancel();
    calls.getFirst().closed();
    assertThat(counts.streams).isEqualTo(MANY_STREAMS - 1);
    assertThat(counts.rejected).isZero();
  }

  @Test
  void aCompletedStreamIsAnsweredOnce() {
    FakeCall<StreamAccessLogsResponse> call = new FakeCall<>();
    StreamObserver<StreamAccessLogsMessage> stream = logs.streamAccessLogs(call);
    stream.onCompleted();
    call.closed();
    stream.onNext(message(List.of(answered(200).build())).build());
    assertThat(call.ended).isEqualTo(Status.OK);
    assertThat(call.answers).hasSize(1);
    assertThat(counts.streams).isZero();
    assertThat(recorded.ended).isEmpty();
  }

  @Test
  void anEntryThatFailsDoesNotAffectOthers() {
    AccessLogs failing =
        new AccessLogs(
            (node, reading, began, arrived) -> {
              recorded.ended(node, reading, began, arrived);
              throw new IllegalStateException("a bug");
            },
            counts,
            time,
            PER_SECOND);
    StreamObserver<StreamAccessLogsMessage> stream = failing.streamAccessLogs(new FakeCall<>());
    try (Logged logged = Logged.by(AccessLogs.class)) {
      stream.onNext(message(List.of(answered(200).build(), answered(200).build())).build());
      assertThat(logged.lines()).hasSize(1).first().asString().startsWith("SEVERE an entry");
    }
    assertThat(recorded.ended).hasSize(2);
    assertThat(counts.skipped).containsExactly(Map.entry(Skipped.FAILED, 2));
  }

  /** Requests with all kinds of ends, each with its own id. */
  @Test
  void aNodeIdNotAllowedByTheCertificateIsRejected() throws Exception {
    Context bound = Context.current().withValue(NodeIds.KEY, "edge-1"::equals);
    FakeCall<StreamAccessLogsResponse> call = new FakeCall<>();
    StreamObserver<StreamAccessLogsMessage> stream = bound.call(() -> logs.streamAccessLogs(call));
    List<HTTPAccessLogEntry> one = List.of(answered(200).build());
    stream.onNext(named(message(one), "edge-2"));
    assertThat(call.ended).extracting(Status::getCode).isEqualTo(Status.Code.PERMISSION_DENIED);
    stream.onNext(message(one).build());
    assertThat(recorded.ended).isEmpty();
    bound.call(() -> logs.streamAccessLogs(new FakeCall<>())).onNext(named(message(one), "edge-1"));
    assertThat(recorded.ended).hasSize(1);
  }

  private static List<HTTPAccessLogEntry> day(Random random, int requests) {
    List<HTTPAccessLogEntry> day = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      HTTPAccessLogEntry.Builder entry =
          switch (random.nextInt(9)) {
            case 0 -> answered(503);
            case 1 -> timedOut();
            case 2 -> flagged(unsent(503), f -> f.setUpstreamOverflow(true));
            case 3 -> flagged(local(429), f -> f.setRateLimited(true));
            case 4 -> Entries.goingOn(answered(200));
            default -> took(random.nextInt(1, 90));
          };
      identified(entry, "request-" + i, i);
      day.add((random.nextBoolean() ? leased(entry, RATE_LIMIT, "L" + i) : entry).build());
    }
    return day;
  }

  private static HTTPAccessLogEntry.Builder timedOut() {
    return flagged(sent(504), f -> f.setUpstreamRequestTimeout(true));
  }

  private static HTTPAccessLogEntry.Builder took(int millis) {
    HTTPAccessLogEntry.Builder entry = answered(200);
    entry
        .getCommonPropertiesBuilder()
        .setTimeToLastUpstreamRxByte(Entries.duration((2 + millis) * Entries.MS));
    return entry;
  }

  private StreamObserver<StreamAccessLogsMessage> open() {
    return logs.streamAccessLogs(new FakeCall<>());
  }

  private FakeCall<StreamAccessLogsResponse> opened() {
    FakeCall<StreamAccessLogsResponse> call = new FakeCall<>();
    var _ = logs.streamAccessLogs(call);
    return call;
  }

  private static StreamAccessLogsMessage.Builder message(List<HTTPAccessLogEntry> entries) {
    return StreamAccessLogsMessage.newBuilder()
        .setHttpLogs(HTTPAccessLogEntries.newBuilder().addAllLogEntry(entries));
  }

  private static StreamAccessLogsMessage named(
      StreamAccessLogsMessage.Builder message, String node) {
    return message
        .setIdentifier(Identifier.newBuilder().setNode(Node.newBuilder().setId(node)))
        .build();
  }

  private static Map<Reading, Long> tally(List<Reading> readings) {
    Map<Reading, Long> tally = new HashMap<>();
    readings.forEach(reading -> tally.merge(reading, 1L, Long::sum));
    return tally;
  }

  private static long ms(long millis) {
    return millis * Entries.MS;
  }
}
