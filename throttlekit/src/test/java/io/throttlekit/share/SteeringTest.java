package io.throttlekit.share;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.throttlekit.limit.DigestedLimit;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests what the algorithm of a fleet learns of the digests of its nodes. */
class SteeringTest {
  private static final long SECOND = 1_000_000_000;
  private static final int LIMIT = 40;
  private static final int FULL = 1;
  private static final int FREE = 10_000;

  /** The algorithms that were created. They digest what they learn. */
  private final List<DigestedLimit> algorithms = new ArrayList<>();

  private final Steering steering = steering(Aggregate.POOLED);
  private long now = Long.MAX_VALUE - 3 * SECOND; // monotonic time may overflow

  @Test
  void theLimitOfTheFleetIsPublishedUnderTheLease() {
    assertThat(steering.learn(grant(3, FULL), now)).isEqualTo(new Publication(3, LIMIT));
    algorithm().publish(LIMIT + 1, true);
    assertThat(steering.learn(grant(3, FULL), now)).isEqualTo(new Publication(3, LIMIT + 1));
    assertThat(algorithms).hasSize(1);
  }

  @Test
  void anotherLeaseBeginsAtTheLimitOfTheFleet() {
    steering.learn(grant(3, FULL), now);
    algorithm().publish(LIMIT + 1, true);
    assertThat(steering.learn(grant(4, FULL), now)).isEqualTo(new Publication(4, LIMIT));
    assertThat(algorithms).hasSize(2);
  }

  @Test
  void aNodeWithoutTheLeasePublishesNothing() {
    assertThat(steering.replace(this::digesting)).isNull();
    assertThat(steering.learn(grant(0, FULL), now)).isNull();
    steering.learn(grant(3, FULL), now);
    assertThat(steering.learn(grant(0, FULL), now)).isNull();
    assertThat(steering.replace(this::digesting)).isNull();
    assertThat(steering.learn(grant(3, FULL), now)).isEqualTo(new Publication(3, LIMIT));
    assertThat(algorithms).as("what it knew is too old").hasSize(2);
  }

  @Test
  void aReplacedAlgorithmBeginsAtTheCurrentLimit() {
    steering.learn(grant(3, FULL), now);
    algorithm().publish(LIMIT + 5, true);
    assertThat(steering.replace(this::digesting)).isEqualTo(new Publication(3, LIMIT + 5));
    assertThat(steering.learn(grant(3, FULL), now)).isEqualTo(new Publication(3, LIMIT + 5));
  }

  @Test
  void samplesOfAllNodesAreLearnedOnce() {
    SampleDigest learned = learned(FREE, digest(100, 0, 0, 20, false), digest(50, 10, 0, 40, true));
    assertThat(learned.answered() + learned.dropped()).isEqualTo(160);
    assertThat(learned.dropped()).isBetween(9L, 11L);
    assertThat(learned.refused()).isZero();
    assertThat(learned.full()).isTrue();
    assertThat(learned.latencies().subList(0, 12))
        .allSatisfy(nanos -> assertThat(nanos).isCloseTo(millis(20), within(millis(1))));
    assertThat(learned.latencies().subList(15, 20))
        .allSatisfy(nanos -> assertThat(nanos).isCloseTo(millis(40), within(millis(2))));
    steering.learn(grant(3, FREE), now += SECOND);
    assertThat(algorithm().take()).isNull();
  }

  @Test
  void latenciesAreThoseOfTheDigestInItsProportions() {
    List<Long> latencies = new ArrayList<>();
    for (int i = 1; i <= SampleDigest.MAX_LATENCIES; i++) {
      latencies.add(millis(10L * i));
    }
    SampleDigest learned = learned(FREE, new SampleDigest(1_000, 0, 0, 50, false, latencies));
    assertThat(learned.full()).isFalse();
    for (int i = 0; i < latencies.size(); i++) {
      assertThat(learned.latencies().get(i)).isCloseTo(latencies.get(i), within(millis(10)));
    }
  }

  @Test
  void theRequestsInFlightOfTheSamplesReachThePeakOfTheNodes() {
    assertThat(learned(FREE, digest(100, 0, 0, 20, false)).inFlight()).isEqualTo(10);
  }

  @Test
  void theRequestsInFlightOfMostSamplesAreTheMeanByLittlesLaw() {
    steering.learn(grant(3, FREE), now);
    SampleDigest of = digest(400, 0, 0, 20, false); // a mean of 8, one more when one is admitted
    for (int i = 0; i < 20; i++) {
      steering.learn(grant(3, FREE, of), now += SECOND);
    }
    algorithm().take();
    steering.learn(grant(3, FREE, of), now += SECOND);
    assertThat(requireNonNull(algorithm().take()).inFlight()).isBetween(9, 10);
  }

  @Test
  void ofVeryManySamplesAPartIsLearned() {
    SampleDigest learned =
        learned(FREE, digest(15_000, 0, 0, 20, false), digest(5_000, 0, 0, 20, false));
    assertThat(learned.answered()).isEqualTo(5_000);
    SampleDigest dropped = learned(FREE, digest(10_000, 10_000, 0, 20, false));
    assertThat(dropped.answered() + dropped.dropped()).isEqualTo(5_000);
    assertThat(dropped.dropped()).isBetween(2_499L, 2_501L);
  }

  @Test
  void refusalsAreLearnedOverASecond() {
    assertThat(learned(FULL, digest(100, 0, 100, 20, true)).refused()).isEqualTo(63);
    steering.learn(grant(3, FULL, digest(100, 0, 0, 20, true)), now += SECOND);
    assertThat(requireNonNull(algorithm().take()).refused()).as("of 37").isEqualTo(23);
    steering.learn(grant(3, FULL, digest(100, 0, 0, 20, true)), now += SECOND / 10);
    assertThat(requireNonNull(algorithm().take()).refused()).as("of 14").isEqualTo(1);
  }

  @Test
  void refusalsWithoutSamplesAreLearnedToo() {
    steering.learn(grant(3, 0), now);
    SampleDigest refusals = new SampleDigest(0, 0, 100, 0, true, List.of());
    steering.learn(grant(3, 0, refusals), now += SECOND);
    assertThat(requireNonNull(algorithm().take()).refused()).isEqualTo(63);
  }

  @Test
  void whilePermitsAreFreeOneRefusalIsLearnedForTwentySamples() {
    assertThat(learned(FREE, digest(100, 0, 100, 20, true)).refused()).isEqualTo(5);
  }

  @Test
  void aLimitIsFullWhenFourFifthsOfItAreInUse() {
    SampleDigest of = digest(400, 0, 100, 20, true); // a mean of 8 in flight
    assertThat(learned(10, of).refused()).isEqualTo(63);
    assertThat(steeredAnew(11, of).refused()).isEqualTo(20);
  }

  @Test
  void onlyTheAlgorithmOfTheWholeFleetCallsForFrequentHeartbeats() {
    for (Aggregate aggregate : Aggregate.values()) {
      Steering each = steering(aggregate);
      each.learn(grant(3, FULL), now);
      algorithm().publish(2 * LIMIT, true);
      assertThat(each.learn(grant(3, FULL), now + SECOND))
          .isEqualTo(new Publication(3, 2 * LIMIT, aggregate == Aggregate.POOLED));
    }
  }

  private SampleDigest steeredAnew(int applied, SampleDigest digest) {
    steering.learn(grant(0, applied), now);
    return learned(applied, digest);
  }

  /** Returns what is learned of the digests of a second. */
  private SampleDigest learned(int applied, SampleDigest... digests) {
    steering.learn(grant(3, applied), now);
    algorithm().take();
    steering.learn(grant(3, applied, digests), now += SECOND);
    return requireNonNull(algorithm().take());
  }

  private Steering steering(Aggregate aggregate) {
    return new Steering(this::digesting, aggregate, SECOND);
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
    return new SampleDigest(answered, dropped, refused, 10, full, List.of(millis(latency)));
  }

  private static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static ShareGrant grant(long epoch, int applied, SampleDigest... digests) {
    return new ShareGrant(
        Status.MEMBER,
        1,
        LIMIT,
        applied,
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
