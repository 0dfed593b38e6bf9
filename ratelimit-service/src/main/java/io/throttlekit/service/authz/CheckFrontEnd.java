package io.throttlekit.service.authz;

import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.DecisionListener;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.rls.ExtrasFactory;
import io.throttlekit.service.rls.FrontEnd;
import io.throttlekit.service.rls.InvalidRequestException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers Envoy's external authorization with the same policies as its rate limits. Thread-safe.
 *
 * <p>The rate limit filter calls only where routes configure it; a Check arrives for every request
 * that reaches the filter. Requests that no configuration covers are therefore never admitted by
 * accident: without a domain, or with a domain that no policy has, the call fails. A request that
 * yields no descriptor, for example because its client omitted a header, is refused unless the
 * configuration admits it.
 */
public final class CheckFrontEnd implements FrontEnd {
  private static final Answer UNDESCRIBED_ADMITTED = new Answer(true, List.of());
  private static final Answer UNDESCRIBED_REFUSED = new Answer(false, List.of());

  private final Admission admission;
  private final Supplier<@Nullable PolicyBook> policies;
  private final DecisionListener decisions;
  private final CheckListener checks;
  private final CheckReader reader;
  private final CheckWriter writer;
  private final Answer undescribed;

  /**
   * Creates a front end to {@code admission}.
   *
   * @param maxEntryBytes maximum of a key or value in UTF-8, from 1
   * @param policies those that admission uses; supplies null while none was ever loaded
   * @param decisions receives requests of unknown domains
   * @param checks receives the calls
   */
  public CheckFrontEnd(
      ExtAuthzConfig config,
      int maxEntryBytes,
      ExtrasFactory extras,
      Admission admission,
      Supplier<@Nullable PolicyBook> policies,
      DecisionListener decisions,
      CheckListener checks) {
    this.admission = admission;
    this.policies = policies;
    this.decisions = decisions;
    this.checks = checks;
    this.reader = new CheckReader(config, maxEntryBytes);
    this.writer = new CheckWriter(extras);
    this.undescribed = config.admitsUndescribed() ? UNDESCRIBED_ADMITTED : UNDESCRIBED_REFUSED;
  }

  /** Returns the listener of the calls to this front end. */
  public CheckListener listener() {
    return checks;
  }

  /**
   * Reads the bytes of a {@code CheckRequest}.
   *
   * @throws InvalidRequestException if they are malformed, or no domain is configured
   */
  @Override
  public RateLimitRequest read(byte[] message) {
    return reader.read(message);
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, AnswerCallback callback) {
    PolicyBook book = policies.get();
    if (book != null && book.domain(request.domain()) == null) {
      // a request without descriptors is refused, too
      decisions.domainNotFound(request.domain(), Math.max(1, request.descriptors().size()));
      throw new InvalidRequestException("no policy has the domain of the request");
    }
    if (request.descriptors().isEmpty()) {
      checks.undescribed();
      return undescribed;
    }
    return admission.decide(request, callback);
  }

  /** Returns the bytes of the {@code CheckResponse}, which always has a status. */
  @Override
  public byte[] write(RateLimitRequest request, Answer answer) {
    return writer.write(request, answer);
  }
}
