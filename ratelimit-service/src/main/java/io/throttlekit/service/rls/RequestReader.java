package io.throttlekit.service.rls;

import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.throttlekit.Cost;
import io.throttlekit.descriptors.Descriptor;
import io.throttlekit.descriptors.LimitOverride;
import io.throttlekit.descriptors.LimitUnit;
import io.throttlekit.service.admission.RateLimitRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checks a request message and turns it into what admission speaks. Immutable. */
final class RequestReader {
  /** {@code is_negative_hits}, which the message class is too old to know. */
  private static final int NEGATIVE_HITS_FIELD = 4;

  private final int maxDescriptors;

  RequestReader(int maxDescriptors) {
    this.maxDescriptors = maxDescriptors;
  }

  /**
   * Reads {@code message}.
   *
   * @throws InvalidRequestException when no policy could answer it
   */
  RateLimitRequest read(io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest message) {
    String domain = message.getDomain();
    if (domain.isEmpty()) {
      throw new InvalidRequestException("rate limit domain must not be empty");
    }
    int count = message.getDescriptorsCount();
    if (count == 0) {
      throw new InvalidRequestException("rate limit descriptor list must not be empty");
    }
    if (count > maxDescriptors) {
      throw new InvalidRequestException(
          "a request may have at most " + maxDescriptors + " descriptors, this one has " + count);
    }
    long hits = Math.max(1, Integer.toUnsignedLong(message.getHitsAddend()));
    if (count == 1) {
      return new RateLimitRequest(domain, List.of(descriptor(message.getDescriptors(0))), hits);
    }
    List<Descriptor> descriptors = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      descriptors.add(descriptor(message.getDescriptors(i)));
    }
    return new RateLimitRequest(domain, descriptors, hits);
  }

  private static Descriptor descriptor(RateLimitDescriptor message) {
    String[] entries = new String[2 * message.getEntriesCount()];
    for (int i = 0; i < entries.length; i += 2) {
      Entry entry = message.getEntries(i / 2);
      entries[i] = entry.getKey();
      entries[i + 1] = entry.getValue();
    }
    return new Descriptor(entries, override(message), hits(message), isRefund(message));
  }

  private static long hits(RateLimitDescriptor message) {
    if (!message.hasHitsAddend()) {
      return Descriptor.HITS_UNSET;
    }
    long hits = message.getHitsAddend().getValue(); // unsigned: below 0 stands for 2^63 and more
    if (hits < 0 || hits > Cost.MAX) {
      throw new InvalidRequestException(
          "hits_addend must be from 0 to 2^53-1, was " + Long.toUnsignedString(hits));
    }
    return hits;
  }

  private static boolean isRefund(RateLimitDescriptor message) {
    UnknownFieldSet unknown = message.getUnknownFields();
    if (!unknown.hasField(NEGATIVE_HITS_FIELD)) {
      return false;
    }
    List<Long> values = unknown.getField(NEGATIVE_HITS_FIELD).getVarintList();
    return !values.isEmpty() && values.getLast() != 0;
  }

  private static @Nullable LimitOverride override(RateLimitDescriptor message) {
    if (!message.hasLimit()) {
      return null;
    }
    RateLimitOverride limit = message.getLimit();
    return new LimitOverride(
        Integer.toUnsignedLong(limit.getRequestsPerUnit()), unit(limit.getUnitValue()));
  }

  private static LimitUnit unit(int number) {
    return switch (number) {
      case 1 -> LimitUnit.SECOND;
      case 2 -> LimitUnit.MINUTE;
      case 3 -> LimitUnit.HOUR;
      case 4 -> LimitUnit.DAY;
      case 5 -> LimitUnit.MONTH;
      case 6 -> LimitUnit.YEAR;
      case 7 -> LimitUnit.WEEK; // newer than the message class
      default ->
          throw new InvalidRequestException(
              "the limit of a descriptor needs a unit from SECOND to YEAR, was "
                  + (number == 0 ? "UNKNOWN" : String.valueOf(number)));
    };
  }
}
