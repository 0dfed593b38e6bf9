package io.throttlekit.service.authz;

import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.rls.AnswerExtras;
import io.throttlekit.service.rls.EntryBound;
import io.throttlekit.service.rls.FrontEnd;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.telemetry.CheckMetrics;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers Envoy's external authorization by the same policies as its rate limits. Thread-safe.
 *
 * <p>Envoy's rate limit filter asks where its routes say so; a Check comes with every request that
 * reaches the filter. What no configuration covers is therefore never admitted by accident: without
 * a domain, or in one that no policy has, the call fails, and a request that yields no descriptor,
 * as for want of a header that its client left out, is refused unless the configuration says
 * otherwise.
 */
public final class CheckFrontEnd implements FrontEnd {
  private static final Answer UNDESCRIBED_ADMITTED = new Answer(true, List.of());
  private static final Answer UNDESCRIBED_REFUSED = new Answer(false, List.of());

  private final Admission admission;
  private final Supplier<@Nullable PolicyBook> policies;
  private final RateLimitMetrics metrics;
  private final CheckMetrics checks;
  private final CheckReader reader;
  private final CheckWriter writer;
  private final Answer undescribed;

  /**
   * A front end to {@code admission}.
   *
   * @param bound of the entries of one request
   * @param policies those that admission decides by; gives null while none was ever loaded
   * @param metrics counts requests of unknown domains
   * @param checks counts calls
   */
  public CheckFrontEnd(
      ExtAuthzConfig config,
      EntryBound bound,
      AnswerExtras extras,
      Admission admission,
      Supplier<@Nullable PolicyBook> policies,
      RateLimitMetrics metrics,
      CheckMetrics checks) {
    this.admission = admission;
    this.policies = policies;
    this.metrics = metrics;
    this.checks = checks;
    this.reader = new CheckReader(config, bound);
    this.writer = new CheckWriter(extras);
    this.undescribed = config.admitsUndescribed() ? UNDESCRIBED_ADMITTED : UNDESCRIBED_REFUSED;
  }

  /** Counts the calls that come here. */
  public CheckMetrics metrics() {
    return checks;
  }

  /**
   * Reads the bytes of a {@code CheckRequest}.
   *
   * @throws InvalidRequestException when they are none, or nothing says of which domain
   */
  @Override
  public RateLimitRequest read(byte[] message) {
    return reader.read(message);
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, Later later) {
    PolicyBook book = policies.get();
    if (book != null && book.domain(request.domain()) == null) {
      metrics.domainNotFound(request.domain());
      throw new InvalidRequestException("no policy has the domain of the request");
    }
    if (request.descriptors().isEmpty()) {
      checks.undescribed();
      return undescribed;
    }
    return admission.decide(request, later);
  }

  /** The bytes of the {@code CheckResponse}: never without a status. */
  @Override
  public byte[] write(byte[] message, Answer answer) {
    return writer.write(answer, () -> reader.read(message));
  }
}
