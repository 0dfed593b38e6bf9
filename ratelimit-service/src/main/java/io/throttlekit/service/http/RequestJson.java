package io.throttlekit.service.http;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.RateLimit;
import io.throttlekit.service.rls.DescriptorFields;
import io.throttlekit.service.rls.RequestFields;
import java.io.IOException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Parses a rate-limit request in JSON: field names in camelCase or snake_case, numbers also as
 * strings, no unknown fields.
 */
final class RequestJson {
  private static final BigInteger UINT32_MAX =
      BigInteger.ONE.shiftLeft(32).subtract(BigInteger.ONE);
  private static final BigInteger UINT64_MAX =
      BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
  private static final BigInteger INT32_MIN = BigInteger.valueOf(Integer.MIN_VALUE);
  private static final BigInteger INT32_MAX = BigInteger.valueOf(Integer.MAX_VALUE);

  private static final Map<String, String> CAMEL_CASE =
      Map.of(
          "hits_addend", "hitsAddend",
          "requests_per_unit", "requestsPerUnit",
          "is_negative_hits", "isNegativeHits");

  /**
   * Maximum of descriptors and entries per request: a body of 256 KiB can hold 80,000 empty ones.
   */
  private static final int MAX_ELEMENTS = 10_000;

  private final JsonFields json;
  private final boolean refunds;
  private int elements;
  private boolean refund;

  private RequestJson(JsonFields json, boolean refunds) {
    this.json = json;
    this.refunds = refunds;
  }

  /**
   * Parses a request.
   *
   * @param refunds whether descriptors may give units back
   * @throws RefundException when a descriptor gives units back and may not
   * @throws MalformedBodyException when the body is no request, or has more than 10,000 descriptors
   *     and entries
   */
  static RequestFields parse(byte[] body, boolean refunds) throws MalformedBodyException {
    try {
      return new RequestJson(JsonFields.of(body), refunds).request();
    } catch (IOException | IllegalStateException | ArithmeticException malformed) {
      throw new MalformedBodyException(malformed);
    }
  }

  private RequestFields request() throws IOException, MalformedBodyException {
    String[] domain = {""};
    int[] hitsAddend = {0};
    List<DescriptorFields> descriptors = new ArrayList<>();
    object(
        Set.of("domain", "descriptors", "hitsAddend"),
        name -> {
          switch (name) {
            case "domain" -> domain[0] = json.text();
            case "descriptors" -> json.list(() -> descriptors.add(descriptor()));
            default -> hitsAddend[0] = uint32();
          }
        });
    json.end();
    if (refund && !refunds) { // after the whole body: a malformed one is reported as such
      throw new RefundException();
    }
    return new RequestFields(domain[0], hitsAddend[0], descriptors);
  }

  private DescriptorFields descriptor() throws IOException, MalformedBodyException {
    countElement();
    DescriptorFields descriptor = new DescriptorFields();
    object(
        Set.of("entries", "limit", "hitsAddend", "isNegativeHits"),
        name -> {
          switch (name) {
            case "entries" -> json.list(() -> entry(descriptor));
            case "limit" -> limit(descriptor);
            case "hitsAddend" ->
                descriptor.hits(json.whole(BigInteger.ZERO, UINT64_MAX).longValue());
            default -> {
              if (json.truth()) { // isNegativeHits
                descriptor.refund();
                refund = true;
              }
            }
          }
        });
    return descriptor;
  }

  private void entry(DescriptorFields descriptor) throws IOException, MalformedBodyException {
    countElement();
    String[] entry = {"", ""};
    object(
        Set.of("key", "value"),
        name -> {
          switch (name) {
            case "key" -> entry[0] = json.text();
            default -> entry[1] = json.text();
          }
        });
    descriptor.entry(entry[0], entry[1]);
  }

  private void limit(DescriptorFields descriptor) throws IOException, MalformedBodyException {
    int[] limit = {0, 0};
    object(
        Set.of("requestsPerUnit", "unit"),
        name -> {
          switch (name) {
            case "requestsPerUnit" -> limit[0] = uint32();
            default -> limit[1] = unit();
          }
        });
    descriptor.limit(limit[0], limit[1]);
  }

  private int unit() throws IOException, MalformedBodyException {
    String name = json.name();
    if (name == null) {
      return json.whole(INT32_MIN, INT32_MAX).intValue();
    }
    // RateLimit.Unit of the response: it has the numbers of that of the request, and WEEK.
    for (RateLimit.Unit unit : RateLimit.Unit.values()) {
      if (unit != RateLimit.Unit.UNRECOGNIZED && unit.name().equals(name)) {
        return unit.getNumber();
      }
    }
    throw new MalformedBodyException("unknown unit " + name);
  }

  private void countElement() throws MalformedBodyException {
    if (++elements > MAX_ELEMENTS) {
      throw new MalformedBodyException(
          "a request may have at most " + MAX_ELEMENTS + " descriptors and entries");
    }
  }

  private int uint32() throws IOException, MalformedBodyException {
    return json.whole(BigInteger.ZERO, UINT32_MAX).intValue();
  }

  /** Reads the fields of an object that are not null, and rejects unknown ones. */
  private void object(Set<String> known, JsonFields.Field field)
      throws IOException, MalformedBodyException {
    json.object(
        name -> CAMEL_CASE.getOrDefault(name, name),
        name -> {
          if (!known.contains(name)) {
            throw new MalformedBodyException("unknown field " + name);
          }
          if (!json.absent()) {
            field.read(name);
          }
        });
  }
}
