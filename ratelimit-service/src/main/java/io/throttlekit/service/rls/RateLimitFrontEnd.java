package io.throttlekit.service.rls;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.AnswerCallback;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.rls.ResponseExtras.Header;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers the rate limit requests of Envoy. Thread-safe. */
public final class RateLimitFrontEnd implements FrontEnd {
  private final Admission admission;
  private final GrpcConfig.Limits limits;
  private final ExtrasFactory extras;

  /**
   * Creates a front end to {@code admission}.
   *
   * @param limits of one request
   */
  public RateLimitFrontEnd(
      Admission admission,
      ResponseConfig response,
      CompatibilityConfig compatibility,
      GrpcConfig.Limits limits) {
    this.admission = admission;
    this.limits = limits;
    this.extras = new ExtrasFactory(response, compatibility);
  }

  /**
   * Reads the bytes of a {@code RateLimitRequest}.
   *
   * @throws InvalidRequestException if they are not a valid request
   */
  @Override
  public RateLimitRequest read(byte[] message) {
    return RequestFields.read(message, limits);
  }

  @Override
  public @Nullable Answer decide(RateLimitRequest request, AnswerCallback callback) {
    return admission.decide(request, callback);
  }

  /**
   * Returns the bytes of the {@code RateLimitResponse} to {@code request}: never empty, and never
   * with an unknown code.
   */
  @Override
  public byte[] write(RateLimitRequest request, Answer answer) {
    int code = answer.admitted() ? Code.OK_VALUE : Code.OVER_LIMIT_VALUE;
    int size = CodedOutputStream.computeEnumSize(RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
    List<Verdict> verdicts = answer.verdicts();
    StatusMessage[] statuses = new StatusMessage[verdicts.size()];
    for (int i = 0; i < statuses.length; i++) {
      statuses[i] = StatusMessage.of(verdicts.get(i));
      size += statuses[i].sizeInResponse();
    }
    RateLimitResponse rest = message(extras.of(request, answer));
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

  /** Returns the request, or throws an {@link InvalidRequestException}. */
  RateLimitRequest checked(RequestFields fields) {
    return fields.checked(limits);
  }

  /** Returns the extras of the responses to these requests. */
  ExtrasFactory extras() {
    return extras;
  }

  @SuppressWarnings("ReferenceEquality") // almost every answer has the one without extras
  private static RateLimitResponse message(ResponseExtras extras) {
    if (extras == ResponseExtras.NONE) {
      return RateLimitResponse.getDefaultInstance();
    }
    RateLimitResponse.Builder message = RateLimitResponse.newBuilder();
    for (Header header : extras.headers()) {
      message.addResponseHeadersToAdd(
          HeaderValue.newBuilder().setKey(header.name()).setValue(header.value()));
    }
    message.setRawBody(ByteString.copyFromUtf8(extras.body()));
    if (!extras.metadata().isEmpty()) {
      message.setDynamicMetadata(JsonValue.struct(extras.metadata()));
    }
    return message.build();
  }
}
