package io.throttlekit.service.generated;

import com.google.protobuf.ByteString;
import com.google.protobuf.UInt64Value;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.UnknownFieldSet.Field;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.RateLimitOverride;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.throttlekit.descriptors.policy.RandomPolicies;
import io.throttlekit.descriptors.policy.RandomPolicies.Policy;
import io.throttlekit.descriptors.policy.ReferenceMatcher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * Messages that often meet a rule of some policies, and often the same counter again; now and then
 * one with extreme values.
 */
final class RandomRequests {
  private static final int REMEMBERED = 12;
  private static final int NEGATIVE_HITS = 4;
  private static final List<String> TEXTS = List.of("", "é", "日本", "💥", "a_b", "*", "\0", " ");

  private static final List<String> TENANTS = List.of("acme", "initech", "umbrella", "hooli");

  private final RandomGenerator random;
  private final RandomPolicies generator;
  private final List<Policy> policies;
  private final Map<Policy, List<String[]>> remembered = new HashMap<>();
  private String tenant = "";

  RandomRequests(RandomGenerator random, RandomPolicies generator, List<Policy> policies) {
    this.random = random;
    this.generator = generator;
    this.policies = policies;
  }

  RateLimitRequest next() {
    Policy policy = policies.get(random.nextInt(policies.size()));
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(domain(policy));
    if (random.nextInt(3) == 0) {
      request.setHitsAddend(random.nextInt(40) == 0 ? random.nextInt() : random.nextInt(5));
    }
    tenant = random(TENANTS);
    for (int left = descriptorCount(); left > 0; left--) {
      request.addDescriptors(descriptor(policy));
    }
    if (random.nextInt(20) == 0) {
      request.setUnknownFields(unknown(1_000 + random.nextInt(9)));
    }
    return request.build();
  }

  private String domain(Policy policy) {
    return switch (random.nextInt(100)) {
      case 0 -> "";
      case 1 -> policy.domain() + ' ';
      case 2 -> random(TEXTS);
      default -> policy.domain();
    };
  }

  private int descriptorCount() {
    int drawn = random.nextInt(200);
    if (drawn < 2) {
      return drawn == 0 ? 0 : 200 + random.nextInt(2);
    }
    return drawn < 90 ? 1 : drawn < 150 ? 2 : 3 + random.nextInt(4);
  }

  private RateLimitDescriptor descriptor(Policy policy) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    String[] entries = entries(policy);
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
      if (random.nextInt(100) == 0) {
        descriptor.getEntriesBuilder(i / 2).setUnknownFields(unknown(3));
      }
    }
    if (random.nextInt(3) == 0) {
      descriptor.setHitsAddend(UInt64Value.of(hits()));
    }
    if (random.nextInt(8) == 0) {
      descriptor.setLimit(override());
    }
    if (random.nextInt(7) == 0) {
      descriptor.setUnknownFields(random.nextInt(5) == 0 ? unknown(NEGATIVE_HITS) : negative());
    }
    return descriptor.build();
  }

  private String[] entries(Policy policy) {
    List<String[]> known = remembered.computeIfAbsent(policy, p -> new ArrayList<>());
    if (known.isEmpty() || random.nextInt(6) == 0) {
      known.add(fresh(policy));
    }
    if (known.size() > REMEMBERED) {
      known.remove(random.nextInt(REMEMBERED));
    }
    return ofTenant(known.get(random.nextInt(known.size())));
  }

  /**
   * Returns the same for the tenant of this request, so that tenants meet at a pool. A request is
   * of one tenant: with several, the service may decide the first one with or without the others,
   * because it tries again if a counter of the request is new.
   */
  private String[] ofTenant(String[] entries) {
    String[] own = entries.clone();
    for (int i = 0; i < own.length; i += 2) {
      if (own[i].equals("org")) {
        own[i + 1] = tenant;
      }
    }
    return own;
  }

  private String[] fresh(Policy policy) {
    String[] entries = generator.request(policy);
    for (int tries = 0; tries < 3 && ReferenceMatcher.match(policy, entries).rule() == null; ) {
      entries = generator.request(policy);
      tries++;
    }
    if (entries.length > 0 && random.nextInt(10) == 0) {
      entries[random.nextInt(entries.length)] = random(TEXTS);
    }
    return entries;
  }

  private long hits() {
    return switch (random.nextInt(60)) {
      case 0 -> (1L << 53) - 1;
      case 1 -> random.nextBoolean() ? 1L << 53 : random.nextLong();
      default -> random.nextInt(5);
    };
  }

  private RateLimitOverride override() {
    int drawn = random.nextInt(60);
    return RateLimitOverride.newBuilder()
        .setRequestsPerUnit(random.nextInt(20) == 0 ? random.nextInt() : random.nextInt(6))
        .setUnitValue(drawn == 0 ? 0 : drawn == 1 ? random.nextInt() : 1 + random.nextInt(7))
        .build();
  }

  private static UnknownFieldSet negative() {
    return UnknownFieldSet.newBuilder()
        .addField(NEGATIVE_HITS, Field.newBuilder().addVarint(1).build())
        .build();
  }

  /** A field of a number, of any type, once or more. */
  private UnknownFieldSet unknown(int number) {
    Field.Builder field = Field.newBuilder();
    for (int left = random.nextInt(3); left >= 0; left--) {
      switch (random.nextInt(4)) {
        case 0 -> field.addFixed32(random.nextInt());
        case 1 -> field.addLengthDelimited(ByteString.copyFromUtf8(random(TEXTS)));
        default -> field.addVarint(random.nextInt(3) - 1L);
      }
    }
    return UnknownFieldSet.newBuilder().addField(number, field.build()).build();
  }

  private String random(List<String> texts) {
    return texts.get(random.nextInt(texts.size()));
  }
}
