package io.throttlekit.service.rls;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.NeverLater;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** Formats answers in the notation of the reference cases: {@code OK [OK 10/DAY rem=9]}. */
public final class AnswerText {

  private AnswerText() {}

  /** Returns the answer of {@code frontEnd}, which must be known at once, as a client reads it. */
  public static RateLimitResponse answer(FrontEnd frontEnd, RateLimitRequest message) {
    var request = frontEnd.read(message.toByteArray());
    Answer answer = Objects.requireNonNull(frontEnd.decide(request, new NeverLater()));
    try {
      return RateLimitResponse.parseFrom(frontEnd.write(request, answer));
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
  }

  /** Formats one answer; a status without a limit ends after its code, or after the remainder. */
  public static String of(RateLimitResponse response) {
    return response.getOverallCode()
        + response.getStatusesList().stream()
            .map(AnswerText::status)
            .collect(Collectors.joining("; ", " [", "]"));
  }

  /** Returns the fields of a message, unchecked. */
  public static RequestFields fields(RateLimitRequest message) {
    List<DescriptorFields> descriptors = new ArrayList<>();
    message
        .getDescriptorsList()
        .forEach(descriptor -> {
          try {
            byte[] bytes =
                RateLimitRequest.newBuilder().addDescriptors(descriptor).build().toByteArray();
            CodedInputStream in = CodedInputStream.newInstance(bytes);
            var _ = in.readTag();
            descriptors.add(DescriptorFields.read(in));
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
    return new RequestFields(message.getDomain(), message.getHitsAddend(), descriptors);
  }

  private static String status(DescriptorStatus status) {
    StringBuilder text = new StringBuilder(status.getCode().toString());
    long remaining = Integer.toUnsignedLong(status.getLimitRemaining());
    if (status.hasCurrentLimit()) {
      RateLimit limit = status.getCurrentLimit();
      text.append(' ')
          .append(Integer.toUnsignedLong(limit.getRequestsPerUnit()))
          .append('/')
          .append(limit.getUnit());
      if (!limit.getName().isEmpty()) {
        text.append(" name=").append(limit.getName());
      }
    }
    if (status.hasCurrentLimit() || remaining != 0) {
      text.append(" rem=").append(remaining);
    }
    return text.toString();
  }
}
