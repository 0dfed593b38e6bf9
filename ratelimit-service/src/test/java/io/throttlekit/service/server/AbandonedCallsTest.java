package io.throttlekit.service.server;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.throttlekit.ManualTime;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.rls.CallListener.Abandonment;
import io.throttlekit.service.rls.CallListener.Failure;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.server.CallTracing.CallSpan;
import io.throttlekit.service.telemetry.traces.DecisionTracing;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests which calls count as abandoned by their callers, with a clock that the test moves. */
class AbandonedCallsTest {
  private static final Answer ADMITTED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final ManualTime time = new ManualTime(0);
  private final List<Failure> failures = new ArrayList<>();
  private final List<Abandonment> abandoned = new ArrayList<>();
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider tracers =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private final DecisionTracing tracing = DecisionTracing.on(tracers.get("test"), 1);
  private final CallHandler deciding =
      CallHandler.ofRateLimits(
          new RateLimitFrontEnd((_, _) -> null, Setup.BARE, Setup.NATIVE, Setup.limits()),
          new Counted(),
          null,
          time);

  @AfterEach
  void close() {
    tracers.close();
  }

  @Test
  void anAbandonedCallIsCountedOnceInEveryWayOfDetection() {

    RateLimitCall reset = begun(waiting("20"));
    time.advance(20);
    reset.onCancel();
    reset.answered(ADMITTED);
    assertThat(abandoned).containsExactly(Abandonment.RESET);
    assertThat(failures).containsExactly(Failure.CANCELLED);

    RateLimitCall late = begun(waiting("20"));
    time.advance(20);
    late.answered(ADMITTED);
    late.onCancel();
    late.onComplete();
    assertThat(abandoned).containsExactly(Abandonment.RESET, Abandonment.ANSWERED_LATE);

    RateLimitCall sentLate = begun(waiting("20"));
    time.advance(19);
    sentLate.answered(ADMITTED);
    time.advance(1);
    sentLate.onComplete();
    sentLate.onComplete();
    assertThat(abandoned).hasSize(3).endsWith(Abandonment.ANSWERED_LATE);

    RateLimitCall notSent = begun(waiting("20"));
    time.advance(19);
    notSent.answered(ADMITTED);
    notSent.onCancel();
    notSent.onCancel();
    assertThat(abandoned).hasSize(4).endsWith(Abandonment.RESET);

    RateLimitCall failedLate = begun(waiting("20"));
    time.advance(20);
    failedLate.failed(new InvalidRequestException("no"));
    failedLate.onComplete();
    failedLate.onCancel();
    assertThat(abandoned).as("a failure is counted as a failure").hasSize(4);
    assertThat(failures).containsExactly(Failure.CANCELLED, Failure.SERVICE);
  }

  @Test
  void timelyAnswersAndEarlyCancellationsAreNotAbandoned() {
    RateLimitCall inTime = begun(waiting("20"));
    time.advance(19);
    inTime.answered(ADMITTED);
    inTime.onComplete();

    RateLimitCall left = begun(waiting("20"));
    time.advance(9);
    left.onCancel();

    RateLimitCall waitingCall = begun(new Metadata());
    time.advance(60_000);
    waitingCall.answered(ADMITTED);
    waitingCall.onComplete();
    begun(new Metadata()).onCancel();
    assertThat(abandoned).isEmpty();
    assertThat(failures).containsExactly(Failure.CANCELLED, Failure.CANCELLED);
  }

  @Test
  void theSpanOfAnAbandonedCallIsAnError() {
    RateLimitCall reset = traced();
    time.advance(20);
    reset.onCancel();
    assertThat(onlySpan()).isEqualTo(StatusCode.ERROR);

    RateLimitCall late = traced();
    time.advance(20);
    late.answered(ADMITTED);
    late.onComplete();
    assertThat(onlySpan()).isEqualTo(StatusCode.ERROR);

    RateLimitCall sentLate = traced();
    sentLate.answered(ADMITTED);
    time.advance(20);
    sentLate.onComplete();
    assertThat(onlySpan()).isEqualTo(StatusCode.ERROR);

    RateLimitCall resetAfterTheAnswerWasWritten = traced();
    resetAfterTheAnswerWasWritten.answered(ADMITTED);
    time.advance(20);
    resetAfterTheAnswerWasWritten.onCancel();
    assertThat(onlySpan()).isEqualTo(StatusCode.ERROR);
  }

  @Test
  void theSpanOfACallThatWasAnsweredInTimeEndsOnceWithoutAnError() {
    RateLimitCall inTime = traced();
    inTime.answered(ADMITTED);
    time.advance(19);
    inTime.onComplete();
    assertThat(onlySpan()).isEqualTo(StatusCode.UNSET);
  }

  @Test
  void theSpanOfACallWhoseCallerLeftIsCancelled() {
    RateLimitCall left = traced();
    time.advance(9);
    left.onCancel();
    assertThat(onlyStatus()).isEqualTo(StatusData.create(StatusCode.ERROR, "cancelled"));

    RateLimitCall leftAfterTheAnswerWasWritten = traced();
    time.advance(9);
    leftAfterTheAnswerWasWritten.answered(ADMITTED);
    leftAfterTheAnswerWasWritten.onCancel();
    leftAfterTheAnswerWasWritten.onComplete();
    assertThat(onlyStatus()).isEqualTo(StatusData.create(StatusCode.ERROR, "cancelled"));

    RateLimitCall gaveUp = traced();
    time.advance(20);
    gaveUp.onCancel();
    assertThat(onlyStatus().getDescription()).isEqualTo("deadline exceeded after 20 ms");
  }

  private RateLimitCall traced() {
    return begun(waiting("20"), tracing.start(new Metadata()));
  }

  /** Returns the status of the only span that has ended since the last call. */
  private StatusCode onlySpan() {
    return onlyStatus().getStatusCode();
  }

  private StatusData onlyStatus() {
    List<SpanData> ended = spans.getFinishedSpanItems();
    spans.reset();
    assertThat(ended).hasSize(1);
    return ended.getFirst().getStatus();
  }

  private RateLimitCall begun(Metadata headers) {
    return begun(headers, null);
  }

  private RateLimitCall begun(Metadata headers, @Nullable CallSpan span) {
    RateLimitCall call = new RateLimitCall(deciding, new SentCall(), headers, span);
    call.onMessage(new ByteArrayInputStream(x(entries("zero", "a")).toByteArray()));
    call.onHalfClose();
    return call;
  }

  private static Metadata waiting(String millis) {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER),
        millis);
    return headers;
  }

  private final class Counted implements CallListener {
    @Override
    public void answered(long nanos) {}

    @Override
    public void failed(Failure failure) {
      failures.add(failure);
    }

    @Override
    public void abandoned(Abandonment how) {
      abandoned.add(how);
    }
  }
}
