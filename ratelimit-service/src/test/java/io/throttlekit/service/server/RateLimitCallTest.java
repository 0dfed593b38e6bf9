package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.RecordingConcurrencyListener;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.rls.CallListener.Abandonment;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import io.throttlekit.store.StoreException;
import java.io.ByteArrayInputStream;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests answers from other threads, concurrent with cancellations by the caller. */
class RateLimitCallTest {
  private static final int CALLS = Boolean.getBoolean("throttlekit.thorough") ? 8_000 : 3_000;
  private static final Answer ADMITTED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final AtomicReference<@Nullable AnswerCallback> later = new AtomicReference<>();
  private final RecordingConcurrencyListener limiterEvents = new RecordingConcurrencyListener();
  private final ConcurrencyLimiter concurrencyLimiter =
      new ConcurrencyLimiter(setup.time, (_, _) -> {}, limiterEvents, () -> 1_000);

  private final CallHandler service =
      CallHandler.ofRateLimits(
          new RateLimitFrontEnd(
              (request, waiting) -> {
                later.set(waiting);
                return null;
              },
              Setup.BARE,
              Setup.NATIVE,
              Setup.limits()),
          setup.metrics,
          null,
          setup.time);

  private final List<Failure> failures = Collections.synchronizedList(new ArrayList<>());
  private final CallHandler deciding = deciding(setup.time);

  private CallHandler deciding(TimeSource time) {
    return CallHandler.ofRateLimits(service.frontEnd(), new Counted(), null, time);
  }

  @Test
  void aDeferredAnswerIsSentOnce() {
    SentCall call = new SentCall();
    RateLimitCall begun = begun(call);
    assertThat(later.get()).isSameAs(begun);
    begun.answered(ADMITTED);
    begun.answered(ADMITTED);
    begun.failed(new InvalidRequestException("late"));
    assertThat(call.events).containsExactly("headers", "message", "close OK");
    assertThat(ended()).isEqualTo(1);
  }

  @Test
  void aCancelledCallIsNotAnswered() {
    SentCall call = new SentCall();
    RateLimitCall begun = begun(call);
    begun.onCancel();
    begun.answered(ADMITTED);
    begun.failed(new InvalidRequestException("late"));
    assertThat(call.events).isEmpty();
    assertThat(ended()).isEqualTo(1);
    assertThat(failures).containsExactly(Failure.CANCELLED);
  }

  /** A call cancelled before its request is not counted. */
  @Test
  void aCallCancelledBeforeItsRequestIsNotCounted() {
    RateLimitCall begun = new RateLimitCall(deciding, new SentCall(), new Metadata(), null);
    begun.onCancel();
    assertThat(ended()).isZero();
    assertThat(failures).isEmpty();
  }

  @Test
  void aCallCancelledWhileItsAnswerIsEncodedIsNotAnswered() {
    SentCall call = new SentCall();
    RateLimitCall begun = begun(call);
    begun.answered(whileWritten(() -> elsewhere(begun::onCancel)));
    assertThat(call.events).isEmpty();
    assertThat(ended()).isEqualTo(1);
  }

  @Test
  void aFailureWhileTheAnswerIsEncodedEndsTheCall() {
    SentCall call = new SentCall();
    RateLimitCall begun = begun(call);
    begun.answered(
        whileWritten(() -> elsewhere(() -> begun.failed(new InvalidRequestException("no store")))));
    assertThat(call.events).containsExactly("close INVALID_ARGUMENT");
    assertThat(ended()).isEqualTo(1);
  }

  @Test
  void aCancellationWhileTheAnswerIsSentHasNoEffect() {
    SentCall call = new SentCall();
    RateLimitCall begun = begun(call);
    call.whileSending = () -> elsewhere(begun::onCancel);
    begun.answered(ADMITTED);
    assertThat(call.events).containsExactly("headers", "message", "close OK");
    assertThat(ended()).isEqualTo(1);
  }

  @Test
  void aLeaseIsKeptOnceItsAnswerIsSent() {
    RateLimitCall begun = begun(new SentCall());
    begun.answered(leased());
    begun.onComplete();
    assertThat(concurrencyLimiter.permits().size()).isEqualTo(1);
  }

  @Test
  void aLeaseEndsIfTheCallIsCancelledUnanswered() {
    RateLimitCall before = begun(new SentCall());
    before.onCancel();
    before.answered(leased());
    assertThat(limiterEvents.ends).containsExactly(PermitEnd.CANCELLED);

    RateLimitCall whileWritten = begun(new SentCall());
    Answer written = whileWritten(() -> elsewhere(whileWritten::onCancel));
    whileWritten.answered(
        new Answer(
            true,
            written.verdicts(),
            false,
            RecordingConcurrencyListener.lease(concurrencyLimiter)));
    assertThat(limiterEvents.ends).hasSize(2);

    SentCall call = new SentCall();
    RateLimitCall whileSent = begun(call);
    call.whileSending = () -> elsewhere(whileSent::onCancel);
    whileSent.answered(leased());
    assertThat(limiterEvents.ends).hasSize(3);

    RateLimitCall afterwards = begun(new SentCall());
    afterwards.answered(leased());
    afterwards.onCancel();
    afterwards.onCancel();
    assertThat(limiterEvents.ends).hasSize(4).containsOnly(PermitEnd.CANCELLED);
    assertThat(concurrencyLimiter.permits().size()).isZero();
  }

  @Test
  void aLeaseEndsIfTheAnswerCannotBeEncoded() {
    RateLimitCall begun = begun(new SentCall());
    Answer unwritable =
        whileWritten(() -> {
          throw new IllegalStateException("a bug");
        });
    begun.answered(
        new Answer(
            true,
            unwritable.verdicts(),
            false,
            RecordingConcurrencyListener.lease(concurrencyLimiter)));
    assertThat(limiterEvents.ends).containsExactly(PermitEnd.CANCELLED);
  }

  @Test
  void faultsAreLoggedOnceInTenSeconds() {
    ManualTime time = new ManualTime(0);
    CallHandler slow = deciding(time);
    try (Logged logged = Logged.by(CallWarnings.class)) {
      for (int i = 0; i < 1_000; i++) {
        begun(slow, new SentCall(), new Metadata()).failed(new IllegalStateException("a bug"));
      }
      assertThat(logged.lines())
          .containsExactly("SEVERE 1 ShouldRateLimit calls failed since the last such line");
      time.advance(10_000);
      begun(slow, new SentCall(), new Metadata()).failed(new IllegalStateException("a bug"));
      assertThat(logged.lines())
          .hasSize(2)
          .last()
          .isEqualTo("SEVERE 1000 ShouldRateLimit calls failed since the last such line");
    }
  }

  @Test
  void aLeaseEndsIfTheAnswerIsLate() {
    Metadata headers = waiting("20");
    ManualTime time = new ManualTime(0);
    CallHandler slow = deciding(time);
    SentCall inTime = new SentCall();
    RateLimitCall answered = begun(slow, inTime, headers);
    time.advance(19);
    answered.answered(leased());
    assertThat(inTime.events).containsExactly("headers", "message", "close OK");
    assertThat(concurrencyLimiter.permits().size()).isEqualTo(1);

    SentCall tooLate = new SentCall();
    RateLimitCall late = begun(slow, tooLate, headers);
    time.advance(20);
    late.answered(leased());
    assertThat(tooLate.events).containsExactly("close DEADLINE_EXCEEDED");
    assertThat(failures).containsExactly(Failure.CANCELLED);
    assertThat(concurrencyLimiter.permits().size()).isEqualTo(1);
    assertThat(limiterEvents.ends).containsExactly(PermitEnd.CANCELLED);
  }

  private static Metadata waiting(String millis) {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER),
        millis);
    return headers;
  }

  @Test
  void aWaitingRequestIsNotifiedOnceThatItsCallerIsGone() {
    RateLimitCall begun = begun(new SentCall());
    AtomicInteger notified = new AtomicInteger();
    begun.onCancelled(notified::incrementAndGet);
    assertThat(notified).hasValue(0);
    begun.onCancel();
    begun.onCancel();
    assertThat(notified).hasValue(1);
    begun.onCancelled(notified::incrementAndGet);
    assertThat(notified).as("at once").hasValue(2);
  }

  @Test
  void messagesOfTheStoreAreHiddenFromCallers() {
    SentCall unreachable = new SentCall();
    begun(unreachable).failed(new StoreException("Redis: ERR at 10.0.0.7, script 5f3a", null));
    assertThat(unreachable.events).containsExactly("close UNAVAILABLE");
    assertThat(unreachable.description).isEqualTo("the store is not reachable");
    SentCall late = new SentCall();
    begun(late).failed(StoreException.late("PostgreSQL did not answer in time"));
    assertThat(late.events).containsExactly("close UNAVAILABLE");
    assertThat(late.description).isEqualTo("the store did not answer in time");
    assertThat(failures).containsOnly(Failure.STORE);
  }

  @Test
  void theWaitTimeoutFollowsEnvoysTimeout() {
    RateLimitCall waiting = begun(deciding(new ManualTime(0)), new SentCall(), waiting("20"));
    assertThat(waiting.waitTimeoutNanos()).isEqualTo(18_000_000);
    assertThat(begun(new SentCall()).waitTimeoutNanos()).isEqualTo(Long.MAX_VALUE);
  }

  /**
   * Runs two actions on threads that meet without sleeping, one delayed by a growing number of
   * steps, so that on several processors both are sometimes at the same step. In a third of the
   * calls each waits for the other, so that each is first on a single processor, too.
   */
  @Test
  void aConcurrentAnswerAndCancellationEndTheCallOnce() throws Exception {
    AtomicReferenceArray<@Nullable RateLimitCall> begun = new AtomicReferenceArray<>(CALLS);
    SentCall[] calls = new SentCall[CALLS];
    AtomicInteger done = new AtomicInteger();
    AtomicInteger answers = new AtomicInteger();
    Thread leaving =
        Thread.ofPlatform()
            .start(() -> {
              for (int i = 0; i < CALLS; i++) {
                int number = i;
                await(() -> begun.get(number) != null);
                RateLimitCall call = Objects.requireNonNull(begun.get(i));
                pause(i % 97);
                await(() -> number % 3 != 1 || answers.get() > number);
                call.onCancel();
                done.set(i + 1);
              }
            });
    for (int i = 0; i < CALLS; i++) {
      calls[i] = new SentCall();
      RateLimitCall call = begun(calls[i]);
      begun.set(i, call);
      pause(i % 89);
      int number = i;
      await(() -> number % 3 != 2 || done.get() > number);
      call.answered(leased());
      answers.set(i + 1);
      await(() -> done.get() > number);
    }
    leaving.join();
    long answered = Arrays.stream(calls).filter(call -> !call.events.isEmpty()).count();
    assertThat(answered).as("answered first").isBetween(CALLS / 3L - 1, CALLS - CALLS / 3L + 1);
    assertThat(calls)
        .allSatisfy(call -> {
          assertThat(call.events).isIn(List.of(), List.of("headers", "message", "close OK"));
        });
    assertThat(ended()).isEqualTo(CALLS);
    assertThat(concurrencyLimiter.permits().size())
        .as("all were cancelled, sooner or later")
        .isZero();
    assertThat(limiterEvents.ends).hasSize(CALLS);
  }

  private Answer leased() {
    return new Answer(
        true, ADMITTED.verdicts(), false, RecordingConcurrencyListener.lease(concurrencyLimiter));
  }

  private RateLimitCall begun(SentCall call) {
    return begun(call, new Metadata());
  }

  private RateLimitCall begun(SentCall call, Metadata headers) {
    return begun(deciding, call, headers);
  }

  private static RateLimitCall begun(CallHandler deciding, SentCall call, Metadata headers) {
    RateLimitCall begun = new RateLimitCall(deciding, call, headers, null);
    begun.onMessage(new ByteArrayInputStream(x(entries("one", "a")).toByteArray()));
    begun.onHalfClose();
    return begun;
  }

  /** Returns the number of calls counted as ended. */
  private long ended() {
    String name = "ratelimit_server.ShouldRateLimit.total_requests: ";
    return StatsLines.of(setup.metrics).stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length())))
        .sum();
  }

  /** Spins for a moment, and then leaves a single processor to the other thread. */
  private static void await(BooleanSupplier condition) {
    for (int looks = 0; !condition.getAsBoolean(); looks++) {
      if (looks < 1_000) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(10_000);
      }
    }
  }

  private static void pause(int steps) {
    for (int i = 0; i < steps; i++) {
      Thread.onSpinWait();
    }
  }

  /** Runs the action on another thread and waits for its end. */
  private static void elsewhere(Runnable action) {
    try {
      Thread thread = Thread.ofPlatform().start(action);
      thread.join();
      assertThat(thread.isAlive()).as("waits for the other").isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns an answer that runs an action while its verdicts are written. */
  private static Answer whileWritten(Runnable action) {
    return new Answer(
        true,
        new AbstractList<>() {
          @Override
          public Verdict get(int index) {
            action.run();
            return Verdict.UNTOUCHED;
          }

          @Override
          public int size() {
            return 1;
          }
        });
  }

  private final class Counted implements CallListener {
    @Override
    public void answered(long nanos) {
      setup.metrics.answered(nanos);
    }

    @Override
    public void failed(Failure failure) {
      failures.add(failure);
    }

    @Override
    public void abandoned(Abandonment how) {
      // not tested here
    }
  }
}
