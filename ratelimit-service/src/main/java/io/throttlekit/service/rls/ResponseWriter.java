package io.throttlekit.service.rls;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/** Writes an answer as the message that Envoy reads. Thread-safe. */
final class ResponseWriter {
  /** Nesting depth above what {@link RequestReader} accepts, which counts unknown groups only. */
  private static final int MAX_NESTED = 200;

  private final AnswerExtras extras;

  ResponseWriter(ResponseConfig config, CompatibilityConfig compatibility) {
    this.extras = new AnswerExtras(config, compatibility);
  }

  /** Returns the bytes of the {@code RateLimitResponse} to the request in {@code message}. */
  byte[] write(byte[] message, Answer answer) {
    int code = answer.admitted() ? Code.OK_VALUE : Code.OVER_LIMIT_VALUE;
    int size = CodedOutputStream.computeEnumSize(RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
    List<Verdict> verdicts = answer.verdicts();
    StatusMessage[] statuses = new StatusMessage[verdicts.size()];
    for (int i = 0; i < statuses.length; i++) {
      statuses[i] = StatusMessage.of(verdicts.get(i));
      size += statuses[i].sizeInResponse();
    }
    RateLimitResponse rest =
        extras.of(answer, extras.reportsWhatWasRequested() ? request(message) : null);
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

  private static RateLimitRequest request(byte[] message) {
    CodedInputStream in = CodedInputStream.newInstance(message);
    in.setRecursionLimit(MAX_NESTED);
    try {
      return RateLimitRequest.parseFrom(in);
    } catch (IOException impossible) {
      throw new IllegalArgumentException("it was read before", impossible);
    }
  }
}
