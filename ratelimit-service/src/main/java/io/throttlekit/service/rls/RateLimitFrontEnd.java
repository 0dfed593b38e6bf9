package io.throttlekit.service.rls;

import static com.google.protobuf.WireFormat.WIRETYPE_LENGTH_DELIMITED;
import static com.google.protobuf.WireFormat.WIRETYPE_VARINT;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DESCRIPTORS_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.DOMAIN_FIELD_NUMBER;
import static io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest.HITS_ADDEND_FIELD_NUMBER;
import static io.throttlekit.service.rls.DescriptorFields.TAG_BITS;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Duration;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.descriptors.policy.Limit;
import io.throttlekit.descriptors.policy.LimitUnit;
import io.throttlekit.descriptors.policy.Rule;
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
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answers the rate limit requests of Envoy. Thread-safe.
 *
 * <p>Requests and statuses are read and written without the generated message classes: those would
 * make up a third of the allocation of a decision.
 */
public final class RateLimitFrontEnd implements FrontEnd {
  /** The largest number of a status: protobuf has 32 bits for it, without a sign. */
  static final long UINT32_MAX = 0xFFFF_FFFFL;

  private static final int DOMAIN = DOMAIN_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int DESCRIPTORS =
      DESCRIPTORS_FIELD_NUMBER << TAG_BITS | WIRETYPE_LENGTH_DELIMITED;
  private static final int HITS_ADDEND = HITS_ADDEND_FIELD_NUMBER << TAG_BITS | WIRETYPE_VARINT;

  /** Protobuf's units, which have the same names. */
  private static final Map<LimitUnit, RateLimit.Unit> UNITS = new EnumMap<>(LimitUnit.class);

  static {
    for (LimitUnit unit : LimitUnit.values()) {
      UNITS.put(unit, RateLimit.Unit.valueOf(unit.name()));
    }
  }

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
    CodedInputStream in = CodedInputStream.newInstance(message);
    String domain = "";
    int hits = 0;
    DescriptorFields first = null; // almost every request has one descriptor, and no list
    List<DescriptorFields> more = List.of();
    try {
      for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
        switch (tag) {
          case DOMAIN -> domain = in.readString(); // U+FFFD for bytes that are not UTF-8
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
          default -> DescriptorFields.skip(in, tag);
        }
      }
    } catch (IOException malformed) {
      throw new InvalidRequestException("the request is not a valid protobuf message");
    }
    return checked(domain, hits, first, more);
  }

  /** Returns the request, or throws an {@link InvalidRequestException}. */
  RateLimitRequest checked(RequestFields fields) {
    List<DescriptorFields> all = fields.descriptors();
    return all.isEmpty()
        ? checked(fields.domain(), fields.hitsAddend(), null, all)
        : checked(fields.domain(), fields.hitsAddend(), all.getFirst(), all.subList(1, all.size()));
  }

  /**
   * Checks a request only after all of it was read, so that a malformed one is reported as such.
   */
  private RateLimitRequest checked(
      String domain, int hits, @Nullable DescriptorFields first, List<DescriptorFields> more) {
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
    List<Descriptor> descriptors = List.of(first.checked(limits.entryBytes()));
    if (!more.isEmpty()) {
      descriptors = new ArrayList<>(descriptors);
      for (DescriptorFields descriptor : more) {
        descriptors.add(descriptor.checked(limits.entryBytes()));
      }
    }
    return new RateLimitRequest(domain, descriptors, Integer.toUnsignedLong(hits));
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
    int size = varintSize(RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
    List<Verdict> verdicts = answer.verdicts();
    for (int i = 0; i < verdicts.size(); i++) { // by index: an iterator would be allocated
      Verdict verdict = verdicts.get(i);
      int status = statusSize(verdict, limitSize(verdict), resetSize(verdict));
      size += nested(RateLimitResponse.STATUSES_FIELD_NUMBER, status);
    }
    RateLimitResponse rest = message(extras.of(request, answer));
    size += rest.getSerializedSize();
    int unknownDomain = !verdicts.isEmpty() && verdicts.getFirst().isOfUnknownDomain() ? 1 : 0;
    size += varintSize(OwnFields.UNKNOWN_DOMAIN, unknownDomain);
    byte[] response = new byte[size];
    CodedOutputStream out = CodedOutputStream.newInstance(response);
    try {
      writeVarint(out, RateLimitResponse.OVERALL_CODE_FIELD_NUMBER, code);
      for (int i = 0; i < verdicts.size(); i++) {
        writeStatus(out, verdicts.get(i));
      }
      rest.writeTo(out);
      writeVarint(out, OwnFields.UNKNOWN_DOMAIN, unknownDomain);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    out.checkNoSpaceLeft();
    return response;
  }

  /** Returns the extras of the responses to these requests. */
  ExtrasFactory extras() {
    return extras;
  }

  /** Returns the units that a status reports as left, which are all of them without a limit. */
  static long remaining(Verdict verdict) {
    boolean unlimited = verdict.rule() != null && verdict.decision() == null;
    return unlimited ? UINT32_MAX : Math.min(verdict.remaining(), UINT32_MAX);
  }

  /**
   * Returns how many bytes {@link #writeStatus} writes for the message itself.
   *
   * @param limitSize see {@link #limitSize}
   * @param resetSize see {@link #resetSize}
   */
  private static int statusSize(Verdict verdict, int limitSize, int resetSize) {
    int size =
        varintSize(DescriptorStatus.CODE_FIELD_NUMBER, code(verdict))
            + varintSize(DescriptorStatus.LIMIT_REMAINING_FIELD_NUMBER, remaining(verdict));
    return verdict.decision() == null
        ? size
        : size
            + nested(DescriptorStatus.CURRENT_LIMIT_FIELD_NUMBER, limitSize)
            + nested(DescriptorStatus.DURATION_UNTIL_RESET_FIELD_NUMBER, resetSize);
  }

  /** Writes a {@code DescriptorStatus}, whose fields are in the order of their numbers. */
  private static void writeStatus(CodedOutputStream out, Verdict verdict) throws IOException {
    int limitSize = limitSize(verdict);
    int resetSize = resetSize(verdict);
    begin(out, RateLimitResponse.STATUSES_FIELD_NUMBER, statusSize(verdict, limitSize, resetSize));
    writeVarint(out, DescriptorStatus.CODE_FIELD_NUMBER, code(verdict));
    boolean limited = verdict.decision() != null;
    if (limited) {
      begin(out, DescriptorStatus.CURRENT_LIMIT_FIELD_NUMBER, limitSize);
      writeVarint(out, RateLimit.REQUESTS_PER_UNIT_FIELD_NUMBER, requestsPerUnit(verdict));
      writeVarint(out, RateLimit.UNIT_FIELD_NUMBER, unit(verdict));
      if (!name(verdict).isEmpty()) {
        out.writeString(RateLimit.NAME_FIELD_NUMBER, name(verdict));
      }
      writeVarint(out, OwnFields.WINDOW_MILLIS, unnamedWindow(verdict));
      writeVarint(out, OwnFields.BURST, burst(verdict));
    }
    writeVarint(out, DescriptorStatus.LIMIT_REMAINING_FIELD_NUMBER, remaining(verdict));
    if (limited) {
      begin(out, DescriptorStatus.DURATION_UNTIL_RESET_FIELD_NUMBER, resetSize);
      writeVarint(out, Duration.SECONDS_FIELD_NUMBER, verdict.secondsUntilReset());
    }
  }

  private static int limitSize(Verdict verdict) {
    int size =
        varintSize(RateLimit.REQUESTS_PER_UNIT_FIELD_NUMBER, requestsPerUnit(verdict))
            + varintSize(RateLimit.UNIT_FIELD_NUMBER, unit(verdict))
            + varintSize(OwnFields.WINDOW_MILLIS, unnamedWindow(verdict))
            + varintSize(OwnFields.BURST, burst(verdict));
    String name = name(verdict);
    return name.isEmpty()
        ? size
        : size + CodedOutputStream.computeStringSize(RateLimit.NAME_FIELD_NUMBER, name);
  }

  private static int resetSize(Verdict verdict) {
    return varintSize(Duration.SECONDS_FIELD_NUMBER, verdict.secondsUntilReset());
  }

  private static int code(Verdict verdict) {
    return verdict.refused() ? Code.OVER_LIMIT_VALUE : Code.OK_VALUE;
  }

  private static long requestsPerUnit(Verdict verdict) {
    return Math.min(verdict.requestsPerUnit(), UINT32_MAX);
  }

  private static String name(Verdict verdict) {
    Rule rule = verdict.rule();
    return rule == null ? "" : rule.name();
  }

  private static int unit(Verdict verdict) {
    Limit limit = verdict.limit();
    LimitUnit unit = limit == null ? null : limit.unit();
    RateLimit.Unit known = unit == null ? null : UNITS.get(unit);
    return known == null ? RateLimit.Unit.UNKNOWN_VALUE : known.getNumber();
  }

  /** Returns the ms of a window that is none of the protocol's units; else 0. */
  private static long unnamedWindow(Verdict verdict) {
    Limit limit = verdict.limit();
    return limit == null || limit.unit() != null ? 0 : limit.windowMillis();
  }

  /** Returns the units that pass at once, if they differ from the requests per unit; else 0. */
  private static long burst(Verdict verdict) {
    Limit limit = verdict.limit();
    if (limit == null) {
      return 0;
    }
    long burst = limit.algorithm().limit();
    return burst == limit.requestsPerUnit() ? 0 : burst;
  }

  /** Returns the size of a field of any integer or enum type from 0; proto3 omits a 0. */
  private static int varintSize(int field, long value) {
    return value == 0 ? 0 : CodedOutputStream.computeUInt64Size(field, value);
  }

  private static void writeVarint(CodedOutputStream out, int field, long value) throws IOException {
    if (value != 0) {
      out.writeUInt64(field, value);
    }
  }

  /** Returns the size of a field whose message takes {@code size} bytes. */
  private static int nested(int field, int size) {
    return CodedOutputStream.computeTagSize(field)
        + CodedOutputStream.computeUInt32SizeNoTag(size)
        + size;
  }

  private static void begin(CodedOutputStream out, int field, int size) throws IOException {
    out.writeTag(field, WIRETYPE_LENGTH_DELIMITED);
    out.writeUInt32NoTag(size);
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
