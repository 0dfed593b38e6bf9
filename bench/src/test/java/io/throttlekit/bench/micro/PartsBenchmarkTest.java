package io.throttlekit.bench.micro;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.annotations.Param;

class PartsBenchmarkTest {

  @Test
  void theMatchBenchmarkFindsExactlyTheIntendedRules() {
    PolicyMatchBenchmark benchmark = new PolicyMatchBenchmark();
    KeyOrder order = new KeyOrder();
    for (int i = 0; i < 100; i++) {
      assertThat(benchmark.matches(order)).isNotNull();
      assertThat(benchmark.misses(order)).isNull();
    }
  }

  @Test
  void theStoreBenchmarkCharges() {
    StoreBenchmark benchmark = new StoreBenchmark();
    assertThat(benchmark.acquireOne(new KeyOrder()).remaining()).isEqualTo(999_999_999);
    assertThat(benchmark.acquireTwo(new KeyOrder()).decisions()).hasSize(2);
  }

  @Test
  void theDecisionBenchmarksReportTheRemainingUnits() throws InvalidProtocolBufferException {
    for (String limits : List.of("without", "with")) {
      DecisionBenchmark benchmark = new DecisionBenchmark();
      benchmark.limits = limits;
      benchmark.load();
      KeyOrder order = new KeyOrder();
      for (byte[] answer : List.of(benchmark.twoEntries(order), benchmark.eightEntries(order))) {
        RateLimitResponse read = RateLimitResponse.parseFrom(answer);
        assertThat(read.getOverallCode()).isEqualTo(Code.OK);
        assertThat(read.getStatuses(0).getLimitRemaining()).isEqualTo(999_999_999);
      }
      benchmark.close();
    }
  }

  @Test
  void theFairDecisionsReportTheGuaranteesOfAllUsers() throws InvalidProtocolBufferException {
    FairDecisionBenchmark benchmark = new FairDecisionBenchmark();
    benchmark.users = 10;
    benchmark.lease();
    KeyOrder order = new KeyOrder();
    RateLimitResponse leased = RateLimitResponse.parseFrom(benchmark.leased(order));
    RateLimitResponse fair = RateLimitResponse.parseFrom(benchmark.fair(order));
    assertThat(leased.getOverallCode()).isEqualTo(Code.OK);
    assertThat(fair.getOverallCode()).isEqualTo(Code.OK);
    assertThat(unsigned(leased.getStatuses(0).getLimitRemaining())).isEqualTo(3_999_999_998L);
    assertThat(unsigned(fair.getStatuses(0).getLimitRemaining()))
        .as("a guarantee among other users")
        .isBetween(1L, 3_999_999_998L - 1);
    benchmark.close();
  }

  @Test
  void allLeasesOfTheBenchmarkAreReleased() throws InvalidProtocolBufferException {
    LeasedDecisionBenchmark benchmark = new LeasedDecisionBenchmark();
    for (int i = 0; i < 1_000; i++) { // ten times the limit
      RateLimitResponse read = RateLimitResponse.parseFrom(benchmark.acquireAndRelease());
      assertThat(read.getDynamicMetadata().containsFields("lease")).isTrue();
    }
    benchmark.close();
  }

  @Test
  void thePermitBenchmarkReleasesItsPermits() {
    PermitBenchmark benchmark = new PermitBenchmark();
    for (int i = 0; i < 1_000; i++) { // ten times the limit
      benchmark.acquireAndRecord();
      benchmark.netflix();
    }
  }

  private static long unsigned(int units) {
    return Integer.toUnsignedLong(units);
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void everyAlgorithmLearnsFromTheBenchmark(String algorithm) {
    LimitAlgorithmBenchmark benchmark = new LimitAlgorithmBenchmark();
    benchmark.algorithm = algorithm;
    benchmark.create();
    TreeSet<Integer> limits = new TreeSet<>();
    for (int i = 0; i < 100_000; i++) {
      limits.add(benchmark.learn());
    }
    assertThat(limits).hasSizeGreaterThan(3);
    assertThat(limits.first()).isPositive();
  }

  static List<String> algorithms() throws NoSuchFieldException {
    return List.of(
        LimitAlgorithmBenchmark.class.getField("algorithm").getAnnotation(Param.class).value());
  }
}
