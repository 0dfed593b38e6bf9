package io.throttlekit.service.rls;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.descriptors.policy.Descriptor;
import io.throttlekit.envoy.LenientParser;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.server.Setup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the hand-written reader with protobuf's message classes. */
class RequestReadingTest {
  private static final int MESSAGES = 20_000;
  private static final List<String> TEXTS =
      List.of("", "a", "path", "/checkout", "ümlaut", "𝄞", "\u0000", "x".repeat(200));

  private static final byte END_OF_A_GROUP = 9 << 3 | 4;

  private final GrpcConfig.Limits limits = new GrpcConfig.Limits(100_000, 6, 500, 100);
  private final RateLimitFrontEnd frontEnd =
      new RateLimitFrontEnd((_, _) -> null, Setup.BARE, Setup.NATIVE, limits);
  private int readable;
  private int malformed;
  private int invalid;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void bytesAreReadLikeTheMessageClassesDo(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < MESSAGES; i++) {
      byte[] message = message(random);
      assertThat(read(message)).as("%s", Arrays.toString(message)).isEqualTo(expected(message));
    }
    assertThat(readable).isGreaterThan(MESSAGES / 5);
    assertThat(malformed).isGreaterThan(MESSAGES / 5);
    assertThat(invalid).isGreaterThan(MESSAGES / 20);
  }

  private String read(byte[] message) {
    try {
      var request = frontEnd.read(message);
      List<String> descriptors = new ArrayList<>();
      for (Descriptor descriptor : request.descriptors()) {
        descriptors.add(
            String.join(",", descriptor.entries())
                + descriptor.override()
                + descriptor.hits()
                + descriptor.refund());
      }
      readable++;
      return request.domain() + Math.max(1, request.hitsAddend()) + descriptors;
    } catch (InvalidRequestException refused) {
      String reason = String.valueOf(refused.getMessage());
      if (reason.contains("protobuf")) {
        malformed++;
      } else {
        invalid++;
      }
      return reason;
    }
  }

  private static String expected(byte[] message) {
    try {
      return expected(LenientParser.parse(RateLimitRequest.getDefaultInstance(), message));
    } catch (InvalidProtocolBufferException e) {
      return "the request is not a valid protobuf message";
    }
  }

  private static String expected(RateLimitRequest request) {
    if (request.getDomain().isEmpty()) {
      return "rate limit domain must not be empty";
    }
    int count = request.getDescriptorsCount();
    if (count == 0) {
      return "rate limit descriptor list must not be empty";
    }
    if (count > 6) {
      return "a request may have at most 6 descriptors, this one has " + count;
    }
    List<String> descriptors = new ArrayList<>();
    for (RateLimitDescriptor descriptor : request.getDescriptorsList()) {
      int unit = descriptor.getLimit().getUnitValue();
      if (descriptor.hasLimit() && (unit < 1 || unit > 7)) {
        return "the limit of a descriptor needs a unit from SECOND to YEAR, was "
            + (unit == 0 ? "UNKNOWN" : unit);
      }
      long hits = descriptor.getHitsAddend().getValue();
      if (hits < 0 || hits > (1L << 53) - 1) {
        return "hits_addend must be from 0 to 2^53-1, was " + Long.toUnsignedString(hits);
      }
      descriptors.add(describe(descriptor));
    }
    long hits = Math.max(1, Integer.toUnsignedLong(request.getHitsAddend()));
    return request.getDomain() + hits + descriptors;
  }

  private static String describe(RateLimitDescriptor descriptor) {
    List<String> entries = new ArrayList<>();
    for (Entry entry : descriptor.getEntriesList()) {
      entries.add(entry.getKey());
      entries.add(entry.getValue());
    }
    RateLimitOverride limit = descriptor.getLimit();
    String unit =
        List.of("", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK")
            .get(limit.getUnitValue());
    String override =
        "LimitOverride[requestsPerUnit=%d, unit=%s]"
            .formatted(Integer.toUnsignedLong(limit.getRequestsPerUnit()), unit);
    List<Long> negative = descriptor.getUnknownFields().getField(4).getVarintList();
    return String.join(",", entries)
        + (descriptor.hasLimit() ? override : null)
        + (descriptor.hasHitsAddend() ? descriptor.getHitsAddend().getValue() : -1)
        + (!negative.isEmpty() && negative.getLast() != 0);
  }

  /** Returns one message, two in a row (which merge), or one with a few bytes changed. */
  private static byte[] message(SplittableRandom random) {
    byte[] message = request(random).toByteArray();
    switch (random.nextInt(6)) {
      case 3 -> {
        message = Arrays.copyOf(message, message.length + 1);
        message[message.length - 1] = END_OF_A_GROUP;
      }
      case 0 -> {
        byte[] second = request(random).toByteArray();
        int length = message.length;
        message = Arrays.copyOf(message, length + second.length);
        System.arraycopy(second, 0, message, length, second.length);
      }
      case 1 -> message = Arrays.copyOf(message, random.nextInt(message.length + 1));
      case 2 -> {
        for (int i = random.nextInt(4); i >= 0 && message.length > 0; i--) {
          message[random.nextInt(message.length)] = (byte) random.nextInt(256);
        }
      }
      default -> {}
    }
    return message;
  }

  private static RateLimitRequest request(SplittableRandom random) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(text(random));
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      request.addDescriptors(descriptor(random));
    }
    if (random.nextInt(3) == 0) {
      request.setHitsAddend(random.nextInt());
    }
    if (random.nextInt(8) == 0) {
      request.setUnknownFields(unknown(random.nextInt(4, 20), random));
    }
    return request.build();
  }

  private static RateLimitDescriptor descriptor(SplittableRandom random) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = random.nextInt(5); i > 0; i--) {
      descriptor.addEntriesBuilder().setKey(text(random)).setValue(text(random));
    }
    if (random.nextInt(6) == 0) {
      descriptor.setLimit(
          RateLimitOverride.newBuilder()
              .setRequestsPerUnit(random.nextInt())
              .setUnitValue(random.nextInt(1, random.nextInt(4) == 0 ? 9 : 8)));
    }
    if (random.nextInt(6) == 0) {
      descriptor.setHitsAddend(UInt64Value.of(random.nextLong() >>> random.nextInt(64)));
    }
    if (random.nextInt(4) == 0) {
      descriptor.setUnknownFields(unknown(random.nextInt(4, 6), random));
    }
    return descriptor.build();
  }

  private static UnknownFieldSet unknown(int number, SplittableRandom random) {
    UnknownFieldSet.Field field =
        switch (random.nextInt(3)) {
          case 0 -> UnknownFieldSet.Field.newBuilder().addFixed32(random.nextInt()).build();
          case 1 ->
              UnknownFieldSet.Field.newBuilder()
                  .addGroup(UnknownFieldSet.newBuilder().build())
                  .build();
          default ->
              UnknownFieldSet.Field.newBuilder()
                  .addVarint(random.nextInt(3))
                  .addVarint(random.nextInt(2))
                  .build();
        };
    return UnknownFieldSet.newBuilder().addField(number, field).build();
  }

  private static String text(SplittableRandom random) {
    return TEXTS.get(random.nextInt(TEXTS.size()));
  }
}
