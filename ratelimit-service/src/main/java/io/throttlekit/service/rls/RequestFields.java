package io.throttlekit.service.rls;

import static com.google.protobuf.WireFormat.WIRETYPE_LENGTH_DELIMITED;
import static com.google.protobuf.WireFormat.WIRETYPE_VARINT;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DESCRIPTORS_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DOMAIN_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.HITS_ADDEND_FIELD_NUMBER;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.service.admission.RateLimitRequest;
import io.throttlekit.service.config.GrpcConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a request as received; they are checked only after the whole request was read.
 *
 * <p>Protobuf is read without the generated message classes: they would make up a third of the
 * allocation of a decision. For one thread.
 */
public final class RequestFields {
  // protobuf: the lowest three bits of a tag are the wire type
  private static final int TAG_BITS = 3;
  private static final int DOMAIN = DOMAIN_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int DESCRIPTORS =
      DESCRIPTORS_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int HITS_ADDEND = HITS_ADDEND_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;

  private String domain = "";
  private int hitsAddend;
  private @Nullable DescriptorFields first;
  private List<DescriptorFields> more = List.of();

  /**
   * Reads and checks the bytes of a {@code RateLimitRequest}.
   *
   * @throws InvalidRequestException if they are malformed, or no policy could apply to the request
   */
  static RateLimitRequest read(byte[] message, GrpcConfig.Limits limits) {
    CodedInputStream in = CodedInputStream.newInstance(message);
    String domain = "";
    int hits = 0;
    DescriptorFields first = null; // locals, so that no object is created for them
    List<DescriptorFields> more = List.of();
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        switch (tag) {
          case DOMAIN -> domain = in.readStringRequireUtf8();
          case HITS_ADDEND -> hits = in.readUInt32();
          case DESCRIPTORS -> {
            DescriptorFields descriptor = DescriptorFields.read(in);
            more = first == null ? more : with(more, descriptor);
            first = first == null ? descriptor : first;
          }
          default -> skip(in, tag);
        }
      }
    } catch (IOException malformed) {
      throw new InvalidRequestException("the request is not a valid protobuf message");
    }
    return checked(domain, hits, first, more, limits);
  }

  /** Skips an unknown field. */
  static void skip(CodedInputStream in, int tag) throws IOException {
    if (!in.skipField(tag)) {
      throw new InvalidProtocolBufferException("a group ends that did not begin");
    }
  }

  /** Returns the domain; empty if there is none. */
  public String domain() {
    return domain;
  }

  /** Sets the domain. */
  public void domain(String name) {
    domain = name;
  }

  /** Sets the hits of descriptors without hits of their own, an unsigned number; 0 for unset. */
  public void hitsAddend(int hits) {
    hitsAddend = hits;
  }

  /** Adds a descriptor. */
  public void add(DescriptorFields descriptor) {
    if (first == null) {
      first = descriptor;
    } else {
      more = with(more, descriptor);
    }
  }

  /** Adds an element; almost every request has one descriptor, and no list. */
  private static List<DescriptorFields> with(
      List<DescriptorFields> more, DescriptorFields descriptor) {
    List<DescriptorFields> longer = more.isEmpty() ? new ArrayList<>() : more;
    longer.add(descriptor);
    return longer;
  }

  /**
   * Returns the request.
   *
   * @throws InvalidRequestException if no policy could apply to it
   */
  RateLimitRequest checked(GrpcConfig.Limits limits) {
    return checked(domain, hitsAddend, first, more, limits);
  }

  private static RateLimitRequest checked(
      String domain,
      int hits,
      @Nullable DescriptorFields first,
      List<DescriptorFields> more,
      GrpcConfig.Limits limits) {
    if (domain.isEmpty()) {
      throw new InvalidRequestException("rate limit domain must not be empty");
    }
    if (first == null) {
      throw new InvalidRequestException("rate limit descriptor list must not be empty");
    }
    int count = 1 + more.size();
    if (count > limits.descriptors()) {
      throw new InvalidRequestException(
          "a request may have at most %d descriptors, this one has %d"
              .formatted(limits.descriptors(), count));
    }
    List<Descriptor> descriptors;
    if (more.isEmpty()) {
      descriptors = List.of(first.checked(limits.entryBytes()));
    } else {
      descriptors = new ArrayList<>(count);
      descriptors.add(first.checked(limits.entryBytes()));
      for (DescriptorFields descriptor : more) {
        descriptors.add(descriptor.checked(limits.entryBytes()));
      }
    }
    return new RateLimitRequest(domain, descriptors, Integer.toUnsignedLong(hits));
  }

  @Override
  public String toString() {
    String descriptors = first + (more.isEmpty() ? "" : ", " + more);
    return domain + ", hits " + Integer.toUnsignedString(hitsAddend) + ": " + descriptors;
  }
}
