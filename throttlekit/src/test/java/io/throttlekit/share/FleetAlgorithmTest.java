package io.throttlekit.share;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.AimdLimit;
import io.throttlekit.limit.DigestedLimit;
import io.throttlekit.limit.LimitRange;
import io.throttlekit.limit.ProbedVegasLimit;
import io.throttlekit.limit.Recalibration;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what the algorithm of a fleet learns of the digests of its nodes. */
class FleetAlgorithmTest {
  private static final long SECOND = 1_000_000_000;
  private static final int LIMIT = 40;

  /** The algorithms that were created. They digest what they learn. */
  private final List<DigestedLimit> algorithms = new ArrayList<>();

  private final FleetAlgorithm steering = steering(Aggregate.POOLED);
  private long now = Long.MAX_VALUE - 3 * SECOND; // monotonic time may overflow

  @Test
  void theLimitOfTheFleetIsPublishedUnderTheLease() {
    assertThat(steering.learn(grant(3), now)).isEqualTo(new Publication(3, LIMIT));
    algorithm().publish(LIMIT + 1, true);
    assertThat(steering.learn(grant(3), now)).isEqualTo(new Publication(3, LIMIT + 1));
    assertThat(algorithms).hasSize(1);
  }

  @Test
  void anotherLeaseBeginsAtTheLimitOfTheFleet() {
    steering.learn(grant(3), now);
    algorithm().publish(LIMIT + 1, true);
    assertThat(steering.learn(grant(4), now)).isEqualTo(new Publication(4, LIMIT));
    assertThat(algorithms).hasSize(2);
  }

  @Test
  void aNodeWithoutTheLeasePublishesNothing() {
    assertThat(steering.replace(this::digesting)).isNull();
    assertThat(steering.learn(grant(0), now)).isNull();
    steering.learn(grant(3), now);
    assertThat(steering.learn(grant(0), now)).isNull();
    assertThat(steering.replace(this::digesting)).isNull();
    assertThat(steering.learn(grant(3), now)).isEqualTo(new Publication(3, LIMIT));
    assertThat(algorithms).as("what it knew is too old").hasSize(2);
  }

  @Test
  void aReplacedAlgorithmBeginsAtTheCurrentLimit() {
    steering.learn(grant(3), now);
    algorithm().publish(LIMIT + 5, true);
    assertThat(steering.replace(this::digesting)).isEqualTo(new Publication(3, LIMIT + 5));
    assertThat(steering.learn(grant(3), now)).isEqualTo(new Publication(3, LIMIT + 5));
  }

  @Test
  void samplesOfAllNodesAreLearnedOnce() {
    SampleDigest learned = learned(digest(100, 0, 0, 20, false), digest(50, 10, 0, 40, true));
    assertThat(learned.answered() + learned.dropped()).isEqualTo(160);
    assertThat(learned.dropped()).isBetween(9L, 11L);
    assertThat(learned.refused()).isZero();
    assertThat(learned.full()).isTrue();
    assertThat(learned.latencies().subList(0, 12))
        .allSatisfy(nanos -> assertThat(nanos).isCloseTo(millis(20), within(millis(1))));
    assertThat(learned.latencies().subList(15, 20))
        .allSatisfy(nanos -> assertThat(nanos).isCloseTo(millis(40), within(millis(2))));
    steering.learn(grant(3), now += SECOND);
    assertThat(algorithm().take()).isNull();
  }

  @Test
  void latenciesAreThoseOfTheDigestInItsProportions() {
    List<Long> latencies = new ArrayList<>();
    for (int i = 1; i <= SampleDigest.MAX_LATENCIES; i++) {
      latencies.add(millis(10L * i));
    }
    SampleDigest learned =
        learned(new SampleDigest(1_000, 0, 0, 50, false, RequestStatistics.NONE, latencies));
    assertThat(learned.full()).isFalse();
    for (int i = 0; i < latencies.size(); i++) {
      assertThat(learned.latencies().get(i)).isCloseTo(latencies.get(i), within(millis(10)));
    }
  }

  @Test
  void theRequestsInFlightOfTheSamplesReachThePeakOfTheNodes() {
    assertThat(learned(digest(100, 0, 0, 20, false)).inFlight()).isEqualTo(10);
  }

  /** A mean of 8, and the peak of 200 once: 1 + 8.5 + 12.75 · √8.5. */
  @Test
  void aRequestFindsTheMeanByLittlesLawInFlight() {
    assertThat(limitAfterOneWindow(40, mean(8, 0))).isCloseTo(46, within(1));
  }

  /** A mean of 8, of which an admitted request is one: 1 + 7.5 + 12.75 · √7.5. */
  @Test
  void aRequestThatIsAdmittedWhereOthersAreRefusedFindsOneLess() {
    assertThat(limitAfterOneWindow(40, mean(8, 50))).isCloseTo(43, within(1));
  }

  /** From 11 to 30 ms, with 21 or 22 in flight. */
  @Test
  void latencyDoesNotSeemToFollowTheRequestsInFlight() {
    List<Long> latencies = new ArrayList<>();
    for (int i = 1; i <= SampleDigest.MAX_LATENCIES; i++) {
      latencies.add(millis(10 + i));
    }
    SampleDigest of = new SampleDigest(1_000, 0, 0, 40, false, RequestStatistics.NONE, latencies);
    steering.learn(grant(3), now);
    for (int i = 0; i < 5; i++) {
      steering.learn(grant(3, of), now += SECOND);
      RequestStatistics learned = requireNonNull(algorithm().take()).statistics();
      assertThat(Math.abs(learned.slopeNanos())).isLessThanOrEqualTo(3 * learned.errorNanos());
      assertThat(learned.errorNanos() > 0).as("a slope").isEqualTo(i > 0);
    }
  }

  /** Returns the digest of a second with a mean of requests in flight, and a peak of 200. */
  private static SampleDigest mean(int inFlight, long refused) {
    return new SampleDigest(
        50L * inFlight, 0, refused, 200, refused > 0, RequestStatistics.NONE, List.of(millis(20)));
  }

  @Test
  void ofVeryManySamplesAPartIsLearned() {
    SampleDigest learned = learned(digest(15_000, 0, 0, 20, false), digest(5_000, 0, 0, 20, false));
    assertThat(learned.answered()).isEqualTo(5_000);
    SampleDigest dropped = learned(digest(10_000, 10_000, 0, 20, false));
    assertThat(dropped.answered() + dropped.dropped()).isEqualTo(5_000);
    assertThat(dropped.dropped()).isBetween(2_499L, 2_501L);
  }

  @Test
  void refusalsAreLearnedOverASecond() {
    assertThat(learned(digest(100, 0, 100, 20, true)).refused()).isEqualTo(63);
    steering.learn(grant(3, digest(100, 0, 0, 20, true)), now += SECOND);
    assertThat(requireNonNull(algorithm().take()).refused()).as("of 37").isEqualTo(23);
    steering.learn(grant(3, digest(100, 0, 0, 20, true)), now += SECOND / 10);
    assertThat(requireNonNull(algorithm().take()).refused()).as("of 14").isEqualTo(1);
  }

  /** A limit that refuses while nothing ends would be lowered, as the backend seems to hang. */
  @Test
  void refusalsAreForgottenASecondAfterTheLoadHasStopped() {
    learned(digest(100, 0, 1_000, 20, true));
    assertThat(learned()).satisfies(digest -> assertThat(digest.refused()).isPositive());
    steering.learn(grant(3), now += SECOND);
    assertThat(algorithm().take()).isNull();
  }

  @Test
  void refusalsWithoutSamplesAreLearnedToo() {
    steering.learn(grant(3), now);
    SampleDigest refusals = new SampleDigest(0, 0, 100, 0, true, RequestStatistics.NONE, List.of());
    steering.learn(grant(3, refusals), now += SECOND);
    assertThat(requireNonNull(algorithm().take()).refused()).isEqualTo(63);
  }

  @Test
  void theStatisticsOfEachDigestReachTheAlgorithmBeforeItsSamples() {
    RequestStatistics bursts = new RequestStatistics(0, 0, 3_000);
    int steady = limitAfterOneWindow(RequestStatistics.NONE, RequestStatistics.NONE);
    int first = limitAfterOneWindow(bursts, RequestStatistics.NONE);
    int second = limitAfterOneWindow(RequestStatistics.NONE, bursts);
    assertThat(List.of(first, second)).allMatch(limit -> limit > steady);
    assertThat(limitAfterOneWindow(bursts, bursts)).isGreaterThan(Math.max(first, second));
  }

  /** Returns the limit of a {@link ProbedVegasLimit}, which leaves more room for bursts. */
  private int limitAfterOneWindow(RequestStatistics... ofNodes) {
    SampleDigest[] digests =
        Arrays.stream(ofNodes)
            .map(statistics ->
                new SampleDigest(2_000, 0, 0, 60, false, statistics, List.of(millis(2))))
            .toArray(SampleDigest[]::new);
    return limitAfterOneWindow(60, digests);
  }

  private int limitAfterOneWindow(int initial, SampleDigest... digests) {
    ProbedVegasLimit algorithm =
        new ProbedVegasLimit(
            new LimitRange(1, 1_000, initial),
            ProbedVegasLimit.Settings.defaults().ofFleet(),
            new SplittableRandom(1));
    FleetAlgorithm each = new FleetAlgorithm(_ -> algorithm, Aggregate.POOLED, SECOND);
    each.learn(grant(3), now);
    each.learn(grant(3, digests), now += SECOND);
    assertThat(algorithm.limit()).as("of the first window").isNotEqualTo(initial);
    return algorithm.limit();
  }

  @Test
  void theLimitIsRaisedWhileFewerRequestsAreInFlightThanItAllows() {
    SampleDigest[] digests = digests(4, 350, 25, 15); // a mean of 35 in flight, 4 less than 39
    steering.learn(grant(3), now);
    for (int i = 1; i <= 11; i++) {
      assertThat(publishedAfterASecond(digests)).isEqualTo(LIMIT + 2 * i);
    }
  }

  @Test
  void aRaisedLimitIsLoweredWhileMoreRequestsAreInFlightThanTheAlgorithmAllows() {
    steering.learn(grant(3), now);
    publishedAfterASecond(digests(4, 350, 25, 15));
    assertThat(publishedAfterASecond(digests(4, 350, 25, 15))).isEqualTo(LIMIT + 4);
    SampleDigest[] more = digests(4, 350, 30, 15); // a mean of 42
    assertThat(publishedAfterASecond(more)).as("by 3/2").isEqualTo(LIMIT + 2);
    assertThat(publishedAfterASecond(more)).isEqualTo(LIMIT + 1);
    assertThat(publishedAfterASecond(more)).as("never lowered itself").isEqualTo(LIMIT);
    assertThat(publishedAfterASecond(more)).isEqualTo(LIMIT);
    assertThat(publishedAfterASecond(digests(4, 350, 25, 15))).as("at once").isEqualTo(LIMIT + 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 16})
  void theLimitIsRaisedByNoMoreThanDeviationsOfTheNodesAndAPermitOfEachFurtherNode(int nodes) {
    SampleDigest[] digests = digests(nodes, 100, 20, 10); // a mean of 2 in flight at each node
    steering.learn(grant(3), now);
    algorithm().publish(10 * LIMIT, true);
    double deviations = 3.5 * (nodes * Math.sqrt(2) - Math.sqrt(2 * nodes));
    for (int i = 0; i < 5; i++) {
      assertThat(publishedAfterASecond(digests))
          .isEqualTo(10 * LIMIT + (int) (deviations + 1e-6) + nodes - 1);
    }
  }

  @Test
  void theLimitIsNotRaisedBeyondTheMostOfTheAlgorithm() {
    int most = LIMIT + 5;
    FleetAlgorithm each =
        new FleetAlgorithm(
            _ -> new AimdLimit(new LimitRange(LIMIT, most, LIMIT), AimdLimit.Settings.defaults()),
            Aggregate.POOLED,
            SECOND);
    SampleDigest[] digests = digests(4, 100, 20, 2);
    each.learn(grant(3), now);
    for (int i = 0; i < 5; i++) {
      assertThat(each.learn(grant(3, digests), now += SECOND))
          .extracting(Publication::limit)
          .isEqualTo(most);
    }
  }

  @Test
  void theLimitOfAMeasurementIsNotRaisedAndTheRaiseIsTheSameAfterIt() {
    AimdLimit measuring =
        new AimdLimit(
            new LimitRange(1, 1_000, LIMIT),
            AimdLimit.Settings.defaults()
                .with(new Recalibration(5 * SECOND, LIMIT / 2, Integer.MAX_VALUE)));
    FleetAlgorithm each = new FleetAlgorithm(_ -> measuring, Aggregate.POOLED, SECOND);
    SampleDigest[] digests = digests(4, 350, 25, 15);
    each.learn(grant(3), now);
    int raise = 0;
    int measured = 0;
    for (int i = 0; i < 20; i++) {
      Publication published = requireNonNull(each.learn(grant(3, digests), now += SECOND));
      int above = published.limit() - measuring.limit();
      if (each.isMeasuring()) {
        measured++;
        assertThat(measuring.limit()).isEqualTo(LIMIT / 2);
        assertThat(above).as("at %s", i).isZero();
      } else {
        assertThat(above).as("at %s", i).isBetween(raise, 23).isPositive();
        raise = above;
      }
    }
    assertThat(measured).isBetween(5, 10);
  }

  @Test
  void aReplacedAlgorithmAndNoOtherLeaseBeginsWithTheRaise() {
    SampleDigest[] digests = digests(4, 350, 25, 15);
    steering.learn(grant(3), now);
    assertThat(publishedAfterASecond(digests)).isEqualTo(LIMIT + 2);
    assertThat(steering.replace(this::digesting)).isEqualTo(new Publication(3, LIMIT + 2));
    assertThat(publishedAfterASecond(digests)).isEqualTo(LIMIT + 4);
    assertThat(steering.learn(grant(4, digests), now)).isEqualTo(new Publication(4, LIMIT));
  }

  private int publishedAfterASecond(SampleDigest... digests) {
    return requireNonNull(steering.learn(grant(3, digests), now += SECOND)).limit();
  }

  @Test
  void onlyTheAlgorithmOfTheWholeFleetCallsForFrequentHeartbeats() {
    for (Aggregate aggregate : Aggregate.values()) {
      FleetAlgorithm each = steering(aggregate);
      each.learn(grant(3), now);
      algorithm().publish(2 * LIMIT, true);
      assertThat(each.learn(grant(3), now + SECOND))
          .isEqualTo(new Publication(3, 2 * LIMIT, aggregate == Aggregate.POOLED));
    }
  }

  /** Returns what is learned of the digests of a second. */
  private SampleDigest learned(SampleDigest... digests) {
    steering.learn(grant(3), now);
    algorithm().take();
    steering.learn(grant(3, digests), now += SECOND);
    return requireNonNull(algorithm().take());
  }

  private FleetAlgorithm steering(Aggregate aggregate) {
    return new FleetAlgorithm(this::digesting, aggregate, SECOND);
  }

  private DigestedLimit digesting(int initial) {
    algorithms.add(DigestedLimit.ofFleet(initial));
    return algorithm();
  }

  private DigestedLimit algorithm() {
    return algorithms.getLast();
  }

  private static SampleDigest digest(
      long answered, long dropped, long refused, long latency, boolean full) {
    return new SampleDigest(
        answered, dropped, refused, 10, full, RequestStatistics.NONE, List.of(millis(latency)));
  }

  private static SampleDigest[] digests(int nodes, long answered, long latency, int peak) {
    SampleDigest[] digests = new SampleDigest[nodes];
    Arrays.fill(
        digests,
        new SampleDigest(
            answered, 0, 0, peak, false, RequestStatistics.NONE, List.of(millis(latency))));
    return digests;
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static ShareGrant grant(long epoch, SampleDigest... digests) {
    return new ShareGrant(
        Status.MEMBER,
        1,
        LIMIT,
        LIMIT,
        Math.max(1, digests.length),
        1,
        "a",
        epoch,
        false,
        false,
        List.of(),
        List.of(digests));
  }
}
