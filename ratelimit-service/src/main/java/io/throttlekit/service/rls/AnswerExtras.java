package io.throttlekit.service.rls;

import com.google.protobuf.ByteString;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.descriptors.Denial;
import io.throttlekit.descriptors.Rule;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a response besides its statuses, for every protocol: headers, the body of a refusal,
 * and dynamic metadata. Few responses have any. Thread-safe.
 *
 * <p>Represented as the fields of a {@code RateLimitResponse}, which has room for all of them.
 */
public final class AnswerExtras {
  private static final String CONTENT_TYPE = "content-type";
  private static final RateLimitResponse NOTHING = RateLimitResponse.getDefaultInstance();

  private final HeaderWriter headers;
  private final @Nullable MetadataWriter metadata;
  private final ByteString deniedBody;
  private final HeaderValue deniedContentType;

  /** Creates the extras that {@code config} and the rules require. */
  public AnswerExtras(ResponseConfig config, CompatibilityConfig compatibility) {
    this.headers = new HeaderWriter(config);
    this.metadata =
        config.dynamicMetadata() ? new MetadataWriter(!compatibility.chargeRejected()) : null;
    DeniedBody body = config.deniedBody();
    this.deniedBody = ByteString.copyFromUtf8(body.text());
    this.deniedContentType =
        HeaderValue.newBuilder().setKey(CONTENT_TYPE).setValue(body.contentType()).build();
  }

  /** Returns whether {@link #of} needs the request. */
  public boolean reportsWhatWasRequested() {
    return metadata != null;
  }

  /**
   * Returns the fields of a response besides its statuses.
   *
   * @param asked the request; ignored unless {@link #reportsWhatWasRequested}
   */
  public RateLimitResponse of(Answer answer, @Nullable RateLimitRequest asked) {
    Denial denial = denialOf(answer);
    ByteString body = bodyOf(answer, denial);
    Lease lease = answer.admitted() ? answer.lease() : null;
    boolean tells = metadata != null && asked != null;
    if (!headers.concerns(answer) && denial == null && body.isEmpty() && !tells && lease == null) {
      return NOTHING;
    }
    RateLimitResponse.Builder extras = RateLimitResponse.newBuilder();
    headers.addTo(extras, answer);
    if (!body.isEmpty()) {
      extras.setRawBody(body).addResponseHeadersToAdd(deniedContentType);
    }
    if (denial != null) {
      denial.headers().forEach((name, value) -> put(extras, name, value));
    }
    if (metadata != null && asked != null) {
      extras.setDynamicMetadata(metadata.write(asked, answer));
    }
    if (lease
        // not in a denial: its stream-done call would release a lease that was not granted
        != null) {
      extras
          .getDynamicMetadataBuilder()
          .putFields("lease", Value.newBuilder().setStringValue(lease.id()).build());
    }
    return extras.build();
  }

  private static @Nullable Denial denialOf(Answer answer) {
    Verdict refusing = answer.refusing();
    Rule rule = refusing == null ? null : refusing.rule();
    return rule == null ? null : rule.denial();
  }

  private ByteString bodyOf(Answer answer, @Nullable Denial denial) {
    if (answer.admitted()) {
      return ByteString.EMPTY;
    }
    String own = denial == null ? null : denial.body();
    return own == null ? deniedBody : ByteString.copyFromUtf8(own);
  }

  /**
   * Sets a header, in place of one with the same name: headers of the rule override generated ones.
   */
  private static void put(RateLimitResponse.Builder extras, String name, String value) {
    for (int i = extras.getResponseHeadersToAddCount() - 1; i >= 0; i--) {
      if (extras.getResponseHeadersToAdd(i).getKey().equalsIgnoreCase(name)) {
        extras.removeResponseHeadersToAdd(i);
      }
    }
    extras.addResponseHeadersToAdd(HeaderValue.newBuilder().setKey(name).setValue(value));
  }
}
