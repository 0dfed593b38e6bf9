package io.throttlekit.service.concurrency;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.policy.StreamDoneEntry;
import io.throttlekit.service.concurrency.release.ProcessKeys;
import io.throttlekit.share.InMemoryReleaseExchange;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.store.StoreException;
import io.throttlekit.tier.ManualScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Two processes and one exchange, in manual time. */
class ReleaseForwarderTest {
  private static final String INVENTED = "zik0zj-mh2k9x1c-a-00ff00ff00ff00ff";

  private static final CompletionStage<?> CONNECTED = CompletableFuture.completedStage(true);

  private final ManualTime time = new ManualTime(1_800_000_000_000L);
  private final ManualScheduler timer = new ManualScheduler(time);
  private final InMemoryReleaseExchange exchange = new InMemoryReleaseExchange(time);
  private final Replica a = new Replica();
  private final Replica b = new Replica();

  /** What happens to a call. */
  private enum Fault {
    NONE,
    NOT_SENT,
    ANSWER_LOST,
    HELD
  }

  /** A process, with its way to the exchange. */
  private final class Replica implements ReleaseExchange {
    final RecordingConcurrencyListener events = new RecordingConcurrencyListener();
    final ConcurrencyLimiter limiter = new ConcurrencyLimiter(time, timer, events, () -> 1_000);
    final List<Integer> batches = new ArrayList<>();
    final List<Long> calls = new ArrayList<>();
    Fault fault = Fault.NONE;
    @Nullable Runnable held;
    CompletableFuture<Delivery> heldAnswer = new CompletableFuture<>();
    final ReleaseForwarder forwarder = limiter.permits().forwardThrough(this, CONNECTED);

    @Override
    public CompletionStage<Delivery> exchange(
        String address, long receipt, List<Release> outgoing) {
      if (address.equals(ProcessKeys.ADDRESS)) {
        return exchange.exchange(address, receipt, outgoing);
      }
      batches.add(outgoing.size());
      calls.add(time.wallMillis() - 1_800_000_000_000L);
      switch (fault) {
        case NONE -> {}
        case NOT_SENT -> {
          return CompletableFuture.failedStage(StoreException.notSent("away"));
        }
        case ANSWER_LOST -> {
          var _ = exchange.exchange(address, receipt, outgoing);
          return CompletableFuture.failedStage(StoreException.late("lost"));
        }
        case HELD -> {
          CompletableFuture<Delivery> answer = new CompletableFuture<>();
          heldAnswer = answer;
          held =
              () ->
                  exchange
                      .exchange(address, receipt, outgoing)
                      .whenComplete((delivery, _) -> answer.complete(delivery));
          return answer;
        }
      }
      return exchange.exchange(address, receipt, outgoing);
    }

    @Override
    public CompletionStage<List<String>> claim(String address) {
      return exchange.claim(address);
    }

    RequestPermit permit() {
      return RecordingConcurrencyListener.lease(limiter);
    }

    void streamDone(RequestPermit permit) {
      streamDone(permit.id());
    }

    void streamDone(String id) {
      limiter.permits().streamDone(id, StreamReport.NONE);
    }

    int open() {
      return limiter.permits().size();
    }

    @Override
    public void close() {}
  }

  private void run(int millis) {
    for (int i = 0; i < millis; i++) {
      time.advance(1);
      timer.run();
    }
  }

  private static StreamReport report(int code, long micros) {
    return Objects.requireNonNull(withCode(code).with(StreamDoneEntry.LATENCY, micros));
  }

  @Test
  void aReleaseAtAnotherProcessEndsThePermitWithin70Ms() {
    for (int offset = 0; offset < 60; offset++) {
      RequestPermit permit = a.permit();
      run(30 + offset);
      b.streamDone(permit);
      assertThat(a.open()).isEqualTo(1);
      run(72); // timers have a resolution of 1 ms
      assertThat(a.open()).as("offset %s", offset).isZero();
    }
    assertThat(a.events.ends).hasSize(60).containsOnly(PermitEnd.STREAM_DONE);
    assertThat(b.events.forwarded).hasValue(60);
    assertThat(a.events.received).hasValue(60);
    assertThat(a.events.stale).hasValue(0);
    assertThat(b.events.stale).hasValue(0);
  }

  @Test
  void theReportArrivesWithTheRelease() {
    RequestPermit permit = a.permit();
    run(40);
    b.limiter.permits().streamDone(permit.id(), report(200, 30_000));
    run(72);
    assertThat(a.events.reported).containsExactly(StreamEnd.ANSWERED);
    assertThat(a.events.ignored).isEmpty();
    RequestPermit failed = a.permit();
    run(40);
    b.limiter.permits().streamDone(failed.id(), report(503, 30_000));
    run(72);
    assertThat(a.events.reported).containsExactly(StreamEnd.ANSWERED, StreamEnd.FAILED);
  }

  @Test
  void theTimeToForwardIsNoLatencyOfTheBackend() {
    for (StreamReport unmeasured : List.of(StreamReport.NONE, withCode(200))) {
      sendBusyRounds(unmeasured);
      assertThat(a.events.changes).as("without a latency").hasValue(0);
    }
    sendBusyRounds(report(200, 9_000));
    assertThat(a.events.changes).as("with latencies").hasPositiveValue();
  }

  /** Uses the whole limit again and again, which makes it grow with each window of latencies. */
  private void sendBusyRounds(StreamReport report) {
    for (int round = 0; round < 60; round++) {
      List<RequestPermit> permits =
          IntStream.range(0, 4)
              .mapToObj(_ ->
                  RecordingConcurrencyListener.lease(
                      a.limiter, "algorithm: aimd, min: 1, max: 100, initial: 4"))
              .toList();
      run(10);
      permits.forEach(permit -> b.limiter.permits().streamDone(permit.id(), report));
      run(72);
      assertThat(a.open()).isZero();
    }
  }

  private static StreamReport withCode(int code) {
    return Objects.requireNonNull(StreamReport.NONE.with(StreamDoneEntry.RESPONSE_CODE, code));
  }

  @Test
  void releasesAreSentInBatchesEvery20Ms() {
    List<RequestPermit> permits = IntStream.range(0, 200).mapToObj(_ -> a.permit()).toList();
    run(100);
    b.batches.clear();
    b.calls.clear();
    for (RequestPermit permit : permits) {
      b.streamDone(permit);
      run(1);
    }
    run(72);
    assertThat(a.open()).isZero();
    assertThat(b.batches.stream().mapToInt(Integer::intValue).sum()).isEqualTo(200);
    assertThat(b.batches).hasSizeLessThanOrEqualTo(12);
    for (int i = 1; i < b.calls.size(); i++) {
      assertThat(b.calls.get(i) - b.calls.get(i - 1)).isBetween(20L, 21L);
    }
  }

  @Test
  void aFullBatchIsFollowedByTheNextAtOnce() {
    List<RequestPermit> permits = IntStream.range(0, 2_500).mapToObj(_ -> a.permit()).toList();
    run(100);
    b.batches.clear();
    permits.forEach(b::streamDone);
    run(25);
    assertThat(b.batches).containsExactly(1_000, 1_000, 500);
    run(55);
    assertThat(a.open()).isZero();
  }

  @Test
  void aProcessPollsOnlyWhileAPermitIsOpen() {
    run(10_000);
    assertThat(a.calls).as("makes itself known").hasSize(1);
    RequestPermit permit = a.permit();
    run(1_000);
    assertThat(a.calls.size()).isBetween(19, 22);
    a.streamDone(permit);
    run(60);
    int calls = a.calls.size();
    RequestPermit logged =
        RecordingConcurrencyListener.lease(
            a.limiter, "lease: {release: access_log, flush_interval: 0, service_time: 20ms}");
    run(1_000);
    assertThat(a.calls.size() - calls).as("its log entry may reach another").isBetween(19, 22);
    logged.cancelled();
    run(60);
    calls = a.calls.size();
    run(10_000);
    assertThat(a.calls).hasSize(calls);
  }

  @Test
  void aProcessWithoutPermitsStaysKnownToTheExchange() {
    run(3_600_000);
    assertThat(a.calls).hasSizeBetween(18, 22);
    RequestPermit permit = a.permit();
    b.streamDone(permit); // before the next call of a
    run(72);
    assertThat(a.open()).isZero();
    assertThat(b.events.stale).hasValue(0);
  }

  @Test
  void releasesOfProcessesThatNeverExistedAreStale() {
    b.streamDone(INVENTED);
    assertThat(b.events.stale).hasValue(0);
    run(25);
    assertThat(b.events.stale).hasValue(1);
    assertThat(b.events.forwarded).hasValue(0);
    assertThat(b.batches).contains(1);
  }

  @Test
  void malformedIdsAndIdsOfThisProcessAreStaleAndNeverForwarded() {
    RequestPermit permit = b.permit();
    b.streamDone(permit);
    b.streamDone(permit);
    b.streamDone("x");
    b.streamDone(permit.id() + "0");
    b.streamDone(permit.id().replaceFirst("-", "|"));
    assertThat(b.events.stale).hasValue(4);
    run(200);
    assertThat(b.batches).containsOnly(0);
  }

  @Test
  void aFailedCallIsRepeatedAndEndsThePermitOnce() {
    for (Fault fault : List.of(Fault.NOT_SENT, Fault.ANSWER_LOST)) {
      RequestPermit permit = a.permit();
      int ends = a.events.ends.size();
      run(30);
      b.fault = fault;
      b.streamDone(permit);
      run(60);
      b.fault = Fault.NONE;
      run(200);
      assertThat(a.open()).as("%s", fault).isZero();
      assertThat(a.events.ends).hasSize(ends + 1);
    }
  }

  @Test
  void releasesWhoseAnswerWasLostAreDeliveredAgain() {
    RequestPermit permit = a.permit();
    run(60);
    a.fault = Fault.ANSWER_LOST;
    b.streamDone(permit);
    run(200);
    assertThat(a.open()).isEqualTo(1);
    a.fault = Fault.NONE;
    run(1_001);
    assertThat(a.open()).isZero();
    assertThat(a.events.received).hasValue(1);
    RequestPermit another = a.permit();
    run(200);
    assertThat(a.events.received).as("acknowledged").hasValue(1);
    another.cancelled();
  }

  @Test
  void callsThatFailAreRepeatedEverySecondAtMost() {
    RequestPermit permit = a.permit();
    a.fault = Fault.NOT_SENT;
    run(50);
    a.calls.clear();
    run(10_000);
    assertThat(a.calls).hasSizeBetween(10, 15);
    assertThat(a.events.failedExchanges).hasSizeBetween(10, 15).containsOnly("away");
    permit.cancelled();
  }

  @Test
  void whileTheStoreIsAwayABoundedNumberOfReleasesWaits() {
    List<RequestPermit> permits = IntStream.range(0, 10_003).mapToObj(_ -> a.permit()).toList();
    run(30);
    b.fault = Fault.NOT_SENT;
    permits.forEach(b::streamDone);
    assertThat(b.events.dropped).containsExactly(Map.entry(DroppedRelease.TOO_MANY_WAIT, 3L));
    run(3_000);
    assertThat(b.events.dropped).containsExactly(Map.entry(DroppedRelease.TOO_MANY_WAIT, 3L));
    b.fault = Fault.NONE;
    run(1_200);
    assertThat(a.open()).isEqualTo(3);
    assertThat(b.events.forwarded).hasValue(10_000);
  }

  @Test
  void theOldestReleasesAreDroppedIfTooManyWaitWhenACallFails() {
    List<RequestPermit> permits = IntStream.range(0, 11_000).mapToObj(_ -> a.permit()).toList();
    run(30);
    b.fault = Fault.HELD;
    permits.subList(0, 1_000).forEach(b::streamDone);
    run(30);
    permits.subList(1_000, 10_700).forEach(b::streamDone);
    assertThat(b.events.dropped).isEmpty();
    b.fault = Fault.NONE;
    b.heldAnswer.completeExceptionally(StoreException.late("late"));
    assertThat(b.events.dropped).containsExactly(Map.entry(DroppedRelease.TOO_MANY_WAIT, 700L));
    run(1_000);
    assertThat(a.open()).isEqualTo(1_000);
    b.streamDone(permits.get(699));
    b.streamDone(permits.get(700));
    run(72);
    assertThat(a.open()).as("the first 700 were dropped").isEqualTo(999);
  }

  @Test
  void oneCallAtATimeIsMade() {
    List<RequestPermit> permits = IntStream.range(0, 3).mapToObj(_ -> a.permit()).toList();
    run(30);
    b.fault = Fault.HELD;
    b.streamDone(permits.get(0));
    run(30);
    int calls = b.calls.size();
    b.streamDone(permits.get(1));
    b.streamDone(permits.get(2));
    run(500);
    assertThat(b.calls).hasSize(calls);
    b.fault = Fault.NONE;
    Objects.requireNonNull(b.held).run();
    run(72);
    assertThat(a.open()).isZero();
  }

  @Test
  void closeSendsTheReleasesThatWait() {
    List<RequestPermit> permits = IntStream.range(0, 2_500).mapToObj(_ -> a.permit()).toList();
    permits.forEach(b::streamDone);
    b.forwarder.close();
    assertThat(b.forwarder.ended().toCompletableFuture()).isCompleted();
    run(72);
    assertThat(a.open()).isZero();
    b.streamDone(INVENTED);
    assertThat(b.events.dropped).containsOnlyKeys(DroppedRelease.STOPPED);
    int calls = b.calls.size();
    run(300_000);
    assertThat(b.calls).hasSize(calls);
  }

  @Test
  void closeDuringACallSendsTheRestAfterIt() {
    RequestPermit first = a.permit();
    RequestPermit second = a.permit();
    run(30);
    b.fault = Fault.HELD;
    b.streamDone(first);
    run(30);
    b.streamDone(second);
    b.forwarder.close();
    assertThat(b.forwarder.ended().toCompletableFuture()).isNotCompleted();
    b.fault = Fault.NONE;
    Objects.requireNonNull(b.held).run();
    assertThat(b.forwarder.ended().toCompletableFuture()).isCompleted();
    run(72);
    assertThat(a.open()).isZero();
  }

  @Test
  void closeWaitsForTheCallInFlight() {
    RequestPermit permit = a.permit();
    run(30);
    b.fault = Fault.HELD;
    b.streamDone(permit);
    run(30);
    b.forwarder.close();
    assertThat(b.forwarder.ended().toCompletableFuture()).isNotCompleted();
    Objects.requireNonNull(b.held).run();
    assertThat(b.forwarder.ended().toCompletableFuture()).isCompleted();
    run(72);
    assertThat(a.open()).isZero();
  }

  @Test
  void closeEndsWhenTheStoreIsAwayAndCountsWhatIsLost() {
    RequestPermit permit = a.permit();
    b.fault = Fault.NOT_SENT;
    b.streamDone(permit);
    b.forwarder.close();
    assertThat(b.forwarder.ended().toCompletableFuture()).isCompleted();
    assertThat(b.events.dropped).containsExactly(Map.entry(DroppedRelease.STOPPED, 1L));
    permit.cancelled();
  }

  @Test
  void releasesThatAFullQueueDropsAreCounted() {
    a.permit();
    a.fault = Fault.NOT_SENT; // a does not take them
    for (int i = 0; i < 12; i++) {
      for (int j = 0; j < 1_000; j++) {
        b.streamDone(a.permit());
      }
      run(30);
    }
    assertThat(b.events.dropped).containsExactly(Map.entry(DroppedRelease.QUEUE_FULL, 2_000L));
  }

  @Test
  void aFailureToEndOnePermitKeepsNoOtherOpen() {
    ConcurrencyListener failing =
        new ConcurrencyListener() {
          @Override
          public void ended(PermitEnd how) {
            throw new IllegalStateException("a bug");
          }
        };
    ConcurrencyLimiter limiter = new ConcurrencyLimiter(time, timer, failing, () -> 1_000);
    var _ = limiter.permits().forwardThrough(exchange, CONNECTED);
    List<RequestPermit> permits =
        IntStream.range(0, 3).mapToObj(_ -> RecordingConcurrencyListener.lease(limiter)).toList();
    permits.forEach(b::streamDone);
    run(72);
    assertThat(limiter.permits().size()).isZero();
  }

  @Test
  void releasesWaitUntilTheExchangeIsConnected() {
    RecordingConcurrencyListener events = new RecordingConcurrencyListener();
    ConcurrencyLimiter limiter = new ConcurrencyLimiter(time, timer, events, () -> 1_000);
    CompletableFuture<Boolean> connected = new CompletableFuture<>();
    var _ = limiter.permits().forwardThrough(exchange, connected);
    RequestPermit permit = a.permit();
    limiter.permits().streamDone(permit.id(), StreamReport.NONE);
    run(1_000);
    assertThat(a.open()).isEqualTo(1);
    connected.complete(true);
    run(72);
    assertThat(a.open()).isZero();
    assertThat(events.failedExchanges).isEmpty();
  }

  @Test
  void closeEndsAlsoIfTheExchangeWasNeverConnected() {
    RecordingConcurrencyListener events = new RecordingConcurrencyListener();
    ConcurrencyLimiter limiter = new ConcurrencyLimiter(time, timer, events, () -> 1_000);
    CompletableFuture<Boolean> connected = new CompletableFuture<>();
    ReleaseForwarder forwarder = limiter.permits().forwardThrough(exchange, connected);
    limiter.permits().streamDone(INVENTED, StreamReport.NONE);
    forwarder.close();
    assertThat(forwarder.ended().toCompletableFuture()).isCompleted();
    assertThat(events.dropped).containsExactly(Map.entry(DroppedRelease.STOPPED, 1L));
    connected.complete(true);
    run(200_000);
    assertThat(events.stale).hasValue(0);
  }

  /** The signature is wrong: it belongs to another sequence number, other limits or nothing. */
  @Test
  void inventedIdsOfALiveProcessTakeNoPlaceInTheQueue() {
    String given = a.permit().id();
    String address = Objects.requireNonNull(PermitIds.addressIn(given));
    List<RequestPermit> honest = IntStream.range(0, 500).mapToObj(_ -> a.permit()).toList();
    run(100);
    b.batches.clear();
    int invented = 0;
    for (RequestPermit each : honest) {
      for (int i = 0; i < 100; i++) {
        b.streamDone("%s-%s-00ff00ff00ff%04x".formatted(address, Integer.toString(i, 36), i));
        b.limiter.permits().logged(given + "-l", Ending.Plain.ANSWERED);
        b.streamDone(given + "-l");
        invented += 2; // the log of an access log also names permits that have ended
      }
      b.streamDone(each);
    }
    run(72);
    assertThat(a.open()).isEqualTo(1);
    assertThat(b.batches.stream().mapToInt(Integer::intValue).sum()).isEqualTo(500);
    assertThat(b.events.forwarded).hasValue(500);
    assertThat(b.events.stale).hasValueGreaterThanOrEqualTo(invented);
    assertThat(b.events.dropped).isEmpty();
    assertThat(a.events.received).hasValue(500);
  }

  @Test
  void aGivenIdIsForwardedOnce() {
    String given = a.permit().id();
    List<RequestPermit> honest = IntStream.range(0, 500).mapToObj(_ -> a.permit()).toList();
    run(100);
    for (RequestPermit each : honest) {
      for (int i = 0; i < 100; i++) {
        b.streamDone(given);
      }
      b.streamDone(each);
    }
    run(72);
    assertThat(a.open()).isZero();
    assertThat(b.events.forwarded).hasValue(501);
    assertThat(b.events.stale).hasValue(50_000 - 1);
  }

  /** As those of a process of an earlier version, which publishes no key. */
  @Test
  void idsOfProcessesWithoutAKeyGoBesideTheOthersAndDoNotDelayThem() {
    String old = "zik0zj-mh2k9x1c";
    var _ = exchange.exchange(old, ReleaseExchange.Delivery.NO_RECEIPT, List.of());
    List<RequestPermit> honest = IntStream.range(0, 3_000).mapToObj(_ -> a.permit()).toList();
    run(100);
    b.batches.clear();
    for (int i = 0; i < 20_000; i++) {
      b.streamDone("%s-%s-00ff00ff00ff00ff".formatted(old, Integer.toString(i, 36)));
    }
    honest.forEach(b::streamDone);
    run(72);
    assertThat(a.open()).isZero();
    // of the others, 100 in each batch
    assertThat(b.events.forwarded.get()).isBetween(3_100, 3_000 + 100 * b.batches.size());
    run(10_000);
    assertThat(b.events.forwarded.get() - 3_000)
        .as("all that there was room for arrive")
        .isBetween(7_000, 10_000);
    assertThat(b.events.dropped.get(DroppedRelease.TOO_MANY_WAIT)).isEqualTo(13_000L);
  }

  @Test
  void theKeyOfAProcessThatStartedLaterIsReadWhenItIsNeeded() {
    run(100_000);
    Replica late = new Replica();
    RequestPermit permit = late.permit();
    String address = Objects.requireNonNull(PermitIds.addressIn(permit.id()));
    run(30);
    b.streamDone(permit); // is sent although the key is not known yet
    b.batches.clear();
    for (int i = 0; i < 1_000; i++) {
      b.streamDone(address + "-1-00ff00ff00ff%04x".formatted(i));
    }
    run(72);
    assertThat(late.open()).isZero();
    assertThat(b.batches.stream().mapToInt(Integer::intValue).sum()).isEqualTo(1);
    assertThat(b.events.stale).hasValue(1_000);
  }

  @Test
  void keysStayKnownWhileProcessesRun() {
    run(3_600_000);
    Replica late = new Replica();
    RequestPermit permit = a.permit();
    late.streamDone(permit.id().replaceFirst("-[0-9a-f]{16}", "-00ff00ff00ff00ff"));
    assertThat(late.events.stale).as("known to a process that has just started").hasValue(1);
    late.streamDone(permit);
    run(72);
    assertThat(a.open()).isZero();
  }

  @Test
  void withoutAnExchangeReleasesOfOthersAreStale() {
    RecordingConcurrencyListener events = new RecordingConcurrencyListener();
    ConcurrencyLimiter alone = new ConcurrencyLimiter(time, timer, events, () -> 1_000);
    alone.permits().streamDone(INVENTED, StreamReport.NONE);
    assertThat(events.stale).hasValue(1);
    assertThat(events.dropped).isEmpty();
  }
}
