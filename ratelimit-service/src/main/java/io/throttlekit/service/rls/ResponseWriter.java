package io.throttlekit.service.rls;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.concurrency.Lease;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.DeniedBody;
import io.throttlekit.service.config.ResponseConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns an answer into the message that Envoy reads. Thread-safe. */
final class ResponseWriter {
  /** More than {@link RequestReader} lets pass, which counts unknown groups alone. */
  private static final int MOST_NESTED = 200;

  private static final RateLimitResponse NOTHING = RateLimitResponse.getDefaultInstance();

  private final HeaderWriter headers;
  private final @Nullable MetadataWriter metadata;
  private final ByteString deniedBody;
  private final HeaderValue deniedContentType;

  ResponseWriter(ResponseConfig config, CompatibilityConfig compatibility) {
    this.headers = new HeaderWriter(config);
    this.metadata =
        config.dynamicMetadata() ? new MetadataWriter(!compatibility.chargeRejected()) : null;
    DeniedBody body = config.deniedBody();
    this.deniedBody = ByteString.copyFromUtf8(body.text());
    this.deniedContentType =
        HeaderValue.newBuilder().setKey("content-type").setValue(body.contentType()).build();
  }

  /** The bytes of the {@code RateLimitResponse} to the request whose bytes {@code message} is. */
  byte[] write(byte[] message, Answer answer) {
    int code = answer.admitted() ? Code.OK_VALUE : Code.OVER_LIMIT_VALUE;
    int size = CodedOutputStream.computeEnumSize(RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
    List<Verdict> verdicts = answer.verdicts();
    StatusMessage[] statuses = new StatusMessage[verdicts.size()];
    for (int i = 0; i < statuses.length; i++) {
      statuses[i] = StatusMessage.of(verdicts.get(i));
      size += statuses[i].sizeInResponse();
    }
    RateLimitResponse rest = rest(message, answer);
    size += rest.getSerializedSize();
    byte[] response = new byte[size];
    CodedOutputStream out = CodedOutputStream.newInstance(response);
    try {
      out.writeEnum(RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
      for (StatusMessage status : statuses) {
        status.writeTo(out);
      }
      rest.writeTo(out);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    out.checkNoSpaceLeft();
    return response;
  }

  /** What few answers have: the fields after the statuses. */
  private RateLimitResponse rest(byte[] message, Answer answer) {
    boolean body = !answer.admitted() && !deniedBody.isEmpty();
    Lease lease = answer.admitted() ? answer.lease() : null;
    if (!headers.concerns(answer) && !body && metadata == null && lease == null) {
      return NOTHING;
    }
    RateLimitResponse.Builder rest = RateLimitResponse.newBuilder();
    headers.addTo(rest, answer);
    if (body) {
      rest.setRawBody(deniedBody).addResponseHeadersToAdd(deniedContentType);
    }
    if (metadata != null) {
      rest.setDynamicMetadata(metadata.write(request(message), answer));
    }
    if (lease
        != null) { // never in a denial, or its stream-done call would release what is not held
      rest.getDynamicMetadataBuilder()
          .putFields("lease", Value.newBuilder().setStringValue(lease.id()).build());
    }
    return rest.build();
  }

  private static RateLimitRequest request(byte[] message) {
    CodedInputStream in = CodedInputStream.newInstance(message);
    in.setRecursionLimit(MOST_NESTED);
    try {
      return RateLimitRequest.parseFrom(in);
    } catch (IOException impossible) {
      throw new IllegalArgumentException("it was read before", impossible);
    }
  }
}
