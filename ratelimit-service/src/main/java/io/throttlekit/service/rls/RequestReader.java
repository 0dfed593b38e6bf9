package io.throttlekit.service.rls;

import static com.google.protobuf.WireFormat.WIRETYPE_LENGTH_DELIMITED;
import static com.google.protobuf.WireFormat.WIRETYPE_VARINT;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DESCRIPTORS_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DOMAIN_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.HITS_ADDEND_FIELD_NUMBER;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.GrpcConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks a request message and converts it to a request for admission, without the generated
 * message classes: they would make up a third of the allocation of a decision. Immutable.
 */
final class RequestReader {
  // protobuf: the lowest three bits of a tag are the wire type
  private static final int TAG_BITS = 3;
  private static final int DOMAIN = DOMAIN_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int DESCRIPTORS =
      DESCRIPTORS_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int HITS_ADDEND = HITS_ADDEND_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;

  private final int maxDescriptors;
  private final EntryBound bound;

  RequestReader(GrpcConfig.Limits limits) {
    this.maxDescriptors = limits.descriptors();
    this.bound = new EntryBound(limits.entryBytes());
  }

  /**
   * Reads the bytes of a {@code RateLimitRequest}.
   *
   * @throws InvalidRequestException if they are malformed, or no policy could apply to the request
   */
  RateLimitRequest read(byte[] message) {
    CodedInputStream in = CodedInputStream.newInstance(message);
    String domain = "";
    int hits = 0;
    DescriptorFields first = null;
    List<DescriptorFields> more = List.of();
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        switch (tag) {
          case DOMAIN -> domain = in.readStringRequireUtf8();
          case HITS_ADDEND -> hits = in.readUInt32();
          case DESCRIPTORS -> {
            DescriptorFields descriptor = DescriptorFields.read(in);
            if (first == null) {
              first = descriptor;
            } else {
              more = more.isEmpty() ? new ArrayList<>() : more;
              more.add(descriptor);
            }
          }
          default -> skip(in, tag);
        }
      }
    } catch (IOException malformed) {
      throw new InvalidRequestException("the request is not a valid protobuf message");
    }
    if (domain.isEmpty()) {
      throw new InvalidRequestException("rate limit domain must not be empty");
    }
    if (first == null) {
      throw new InvalidRequestException("rate limit descriptor list must not be empty");
    }
    // hits_addend 0 means 1 in Envoy's API
    long units = Math.max(1, Integer.toUnsignedLong(hits));
    return new RateLimitRequest(domain, descriptors(first, more), units);
  }

  /** Skips an unknown field. */
  static void skip(CodedInputStream in, int tag) throws IOException {
    if (!in.skipField(tag)) {
      throw new InvalidProtocolBufferException("a group ends that did not begin");
    }
  }

  private List<Descriptor> descriptors(DescriptorFields first, List<DescriptorFields> more) {
    if (more.isEmpty()) {
      return List.of(first.checked(bound));
    }
    int count = 1 + more.size();
    if (count > maxDescriptors) {
      throw new InvalidRequestException(
          "a request may have at most " + maxDescriptors + " descriptors, this one has " + count);
    }
    List<Descriptor> all = new ArrayList<>(count);
    all.add(first.checked(bound));
    for (DescriptorFields descriptor : more) {
      all.add(descriptor.checked(bound));
    }
    return all;
  }
}
