package io.throttlekit.service.server;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Metadata;
import io.throttlekit.ManualTime;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.CallMetrics;
import io.throttlekit.service.telemetry.CallMetrics.Abandonment;
import io.throttlekit.service.telemetry.Failure;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which calls count as given up by their callers, by a clock that the test moves. */
class AbandonedCallsTest {
  private static final Answer ADMITTED = new Answer(true, List.of(Verdict.UNTOUCHED));

  private final ManualTime time = new ManualTime(0);
  private final List<Failure> failures = new ArrayList<>();
  private final List<Abandonment> abandoned = new ArrayList<>();
  private final Deciding deciding =
      new Deciding(
          new RateLimitFrontEnd((_, _) -> null, Setup.BARE, Setup.NATIVE, Setup.limits()),
          new Counted(),
          time,
          TimeoutWarnings.ofRateLimits(time));

  @Test
  void aCallerThatGaveUpIsCountedOnceHoweverItIsNoticed() {

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
    assertThat(abandoned).as("a failure is counted as such").hasSize(4);
    assertThat(failures).containsExactly(Failure.CANCELLED, Failure.SERVICE);
  }

  @Test
  void aCallerThatIsAnsweredInTimeOrWhoseClientLeftDidNotGiveUp() {
    RateLimitCall inTime = begun(waiting("20"));
    time.advance(19);
    inTime.answered(ADMITTED);
    inTime.onComplete();

    RateLimitCall left = begun(waiting("20"));
    time.advance(9);
    left.onCancel();

    RateLimitCall patient = begun(new Metadata());
    time.advance(60_000);
    patient.answered(ADMITTED);
    patient.onComplete();
    begun(new Metadata()).onCancel();
    assertThat(abandoned).isEmpty();
    assertThat(failures).containsExactly(Failure.CANCELLED, Failure.CANCELLED);
  }

  private RateLimitCall begun(Metadata headers) {
    RateLimitCall call = new RateLimitCall(deciding, new SentCall(), headers, null);
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

  private final class Counted implements CallMetrics {
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
