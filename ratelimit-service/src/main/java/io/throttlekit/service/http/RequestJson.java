package io.throttlekit.service.http;

import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;

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

  /** Number of a descriptor's field {@code is_negative_hits}, missing in the generated messages. */
  private static final int IS_NEGATIVE_HITS = 4;

  /** Number of the unit {@code WEEK}, missing in the generated messages. */
  private static final int WEEK = 7;

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
  static RateLimitRequest parse(byte[] body, boolean refunds)
      throws MalformedBodyException, RefundException {
    try {
      return new RequestJson(JsonFields.of(body), refunds).request();
    } catch (IOException | IllegalStateException | ArithmeticException malformed) {
      throw new MalformedBodyException(malformed);
    }
  }

  private RateLimitRequest request() throws IOException, MalformedBodyException, RefundException {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder();
    object(name -> {
      switch (name) {
        case "domain" -> {
          if (!json.absent()) {
            request.setDomain(json.text());
          }
        }
        case "descriptors" -> {
          if (!json.absent()) {
            json.list(() -> request.addDescriptors(descriptor()));
          }
        }
        case "hitsAddend" -> {
          if (!json.absent()) {
            request.setHitsAddend(uint32());
          }
        }
        default -> throw unknown(name);
      }
    });
    json.end();
    if (refund && !refunds) { // after the whole body: a malformed one is reported as such
      throw new RefundException();
    }
    return request.build();
  }

  private RateLimitDescriptor descriptor() throws IOException, MalformedBodyException {
    countElement();
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    object(name -> {
      switch (name) {
        case "entries" -> {
          if (!json.absent()) {
            json.list(() -> descriptor.addEntries(entry()));
          }
        }
        case "limit" -> {
          if (!json.absent()) {
            descriptor.setLimit(override());
          }
        }
        case "hitsAddend" -> {
          if (!json.absent()) {
            long hits = json.whole(BigInteger.ZERO, UINT64_MAX).longValue();
            descriptor.setHitsAddend(UInt64Value.of(hits));
          }
        }
        case "isNegativeHits" -> {
          if (!json.absent() && json.truth()) {
            descriptor.setUnknownFields(
                UnknownFieldSet.newBuilder().mergeVarintField(IS_NEGATIVE_HITS, 1).build());
            refund = true;
          }
        }
        default -> throw unknown(name);
      }
    });
    return descriptor.build();
  }

  private RateLimitDescriptor.Entry entry() throws IOException, MalformedBodyException {
    countElement();
    RateLimitDescriptor.Entry.Builder entry = RateLimitDescriptor.Entry.newBuilder();
    object(name -> {
      switch (name) {
        case "key" -> {
          if (!json.absent()) {
            entry.setKey(json.text());
          }
        }
        case "value" -> {
          if (!json.absent()) {
            entry.setValue(json.text());
          }
        }
        default -> throw unknown(name);
      }
    });
    return entry.build();
  }

  private RateLimitOverride override() throws IOException, MalformedBodyException {
    RateLimitOverride.Builder override = RateLimitOverride.newBuilder();
    object(name -> {
      switch (name) {
        case "requestsPerUnit" -> {
          if (!json.absent()) {
            override.setRequestsPerUnit(uint32());
          }
        }
        case "unit" -> {
          if (!json.absent()) {
            override.setUnitValue(unit());
          }
        }
        default -> throw unknown(name);
      }
    });
    return override.build();
  }

  private int unit() throws IOException, MalformedBodyException {
    String name = json.name();
    if (name == null) {
      return json.whole(INT32_MIN, INT32_MAX).intValue();
    }
    if (name.equals("WEEK")) {
      return WEEK;
    }
    for (RateLimitUnit unit : RateLimitUnit.values()) {
      if (unit != RateLimitUnit.UNRECOGNIZED && unit.name().equals(name)) {
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

  private void object(JsonFields.Field field) throws IOException, MalformedBodyException {
    json.object(name -> CAMEL_CASE.getOrDefault(name, name), field);
  }

  private static MalformedBodyException unknown(String name) {
    return new MalformedBodyException("unknown field " + name);
  }
}
