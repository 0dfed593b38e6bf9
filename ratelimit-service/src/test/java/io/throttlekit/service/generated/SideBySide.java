package io.throttlekit.service.generated;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.grpc.Status;
import io.throttlekit.ManualTime;
import io.throttlekit.descriptors.load.LoadOptions;
import io.throttlekit.descriptors.load.LoadResult;
import io.throttlekit.descriptors.load.PolicyLoader;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.descriptors.policy.RandomPolicies;
import io.throttlekit.descriptors.policy.RandomPolicies.Policy;
import io.throttlekit.descriptors.source.PolicySource;
import io.throttlekit.envoy.LenientParser;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.server.Wire;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The service and the reference, with the same requests at the same time. For one thread. */
final class SideBySide {
  private static final long START = 1_700_000_000_123L;
  private static final long DAY = 86_400_000;

  final ReferenceService reference;
  private final ManualTime time = new ManualTime(START);
  private final Wire service;
  private final long seed;
  private final RandomGenerator random;
  private final RandomPolicies generator;
  private List<Policy> policies = List.of();

  /**
   * Both without policies yet.
   *
   * @param seed of {@code random}, for messages
   */
  SideBySide(CompatibilityConfig mode, RandomGenerator random, long seed) {
    this.seed = seed;
    this.service = new Wire(mode, time);
    this.reference = new ReferenceService(mode);
    this.random = random;
    this.generator = RandomPolicies.ofEveryKind(random);
  }

  /** Loads new policies of two domains, as files, while the counters stay. */
  RandomRequests reload() {
    policies = List.of(generator.policy("shop"), generator.policy("é/shop"));
    service.policies(book(policies));
    reference.policies(policies);
    return new RandomRequests(random, generator, policies);
  }

  /** Lets no time, a little or years pass. */
  void advanceTime() {
    long millis =
        switch (random.nextInt(200)) {
          case 0 -> random.nextLong(400 * DAY);
          case 1, 2 -> random.nextLong(2 * DAY);
          case 3, 4, 5, 6, 7, 8, 9, 10 -> random.nextLong(100_000);
          default -> random.nextInt(3) == 0 ? random.nextInt(400) : 0;
        };
    time.advance(millis);
  }

  /**
   * Sends some bytes and compares the answer with what the reference says of the message that
   * protobuf makes of them.
   *
   * @return whether they were a message that could be answered
   */
  boolean agreesOn(byte[] bytes) {
    RateLimitRequest message = parsed(bytes);
    if (message != null && tenants(message) > 1) {
      return false; // sent to neither, see RandomRequests
    }
    Wire.Reply reply = service.invoke(bytes);
    boolean mayRefuse = !reply.status().isOk() && !readableWithoutUnknownFields(bytes);
    RateLimitResponse expected =
        message == null || mayRefuse ? null : reference.answer(message, time.wallMillis());
    if (expected == null) {
      assertThat(reply.status().getCode())
          .as(() -> context(bytes, message))
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(reply.status().getDescription()).isNotBlank();
    } else {
      assertThat(reply.status().getCode())
          .as(() -> context(bytes, message))
          .isEqualTo(Status.Code.OK);
      assertThat(reply.response()).as(() -> context(bytes, message)).isEqualTo(expected);
    }
    return expected != null;
  }

  private static long tenants(RateLimitRequest message) {
    return message.getDescriptorsList().stream()
        .flatMap(descriptor -> descriptor.getEntriesList().stream())
        .filter(entry -> entry.getKey().equals("org"))
        .map(RateLimitDescriptor.Entry::getValue)
        .distinct()
        .count();
  }

  private String context(byte[] bytes, @Nullable RateLimitRequest message) {
    return "seed "
        + seed
        + ", at "
        + time.wallMillis()
        + ", bytes "
        + HexFormat.of().formatHex(bytes)
        + "\n"
        + message
        + "\nby "
        + policies;
  }

  private static @Nullable RateLimitRequest parsed(byte[] bytes) {
    try {
      return LenientParser.parse(RateLimitRequest.getDefaultInstance(), bytes);
    } catch (InvalidProtocolBufferException malformed) {
      return null;
    }
  }

  /** Protobuf keeps a number of an unknown field that is too long, and refuses to skip it. */
  private static boolean readableWithoutUnknownFields(byte[] bytes) {
    try {
      DiscardUnknownFieldsParser.wrap(RateLimitRequest.parser()).parseFrom(bytes);
      return true;
    } catch (InvalidProtocolBufferException malformed) {
      return false;
    }
  }

  private static PolicyBook book(List<Policy> policies) {
    List<PolicySource> files =
        policies.stream().map(p -> new PolicySource(p.domain() + ".yaml", p.yaml())).toList();
    LoadResult result = new PolicyLoader(new LoadOptions(false)).load(files);
    assertThat(result.book()).as(() -> result.problems() + "\n" + policies).isNotNull();
    return Objects.requireNonNull(result.book());
  }
}
