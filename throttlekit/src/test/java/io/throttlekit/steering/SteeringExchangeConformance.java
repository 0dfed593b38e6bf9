package io.throttlekit.steering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Report;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of every {@link SteeringExchange}. */
public abstract class SteeringExchangeConformance {
  private static final long START = 1_700_000_000_000L;
  private static final Duration TIMEOUT = Duration.ofMinutes(4);
  private static final String A = "replica-a";
  private static final String B = "replica-b";
  private static final String C = "replica-c";
  private static final long INCARNATION = -7;
  private static final String ODD = "\n 1 2 'quoted' \"\\ %s ?; {a:b} é ☃ 😀 \t\u0001\r\n";

  private final ManualTime clock = new ManualTime(START);
  private SteeringExchange exchange;

  /** Opens an exchange without data, whose leases follow the wall clock of a test. */
  protected abstract SteeringExchange open(ManualTime clock);

  @BeforeEach
  void openExchange() {
    clock.advance(1_000); // a monotonic clock at 0 would hide errors
    exchange = open(clock);
  }

  @AfterEach
  void closeExchange() {
    exchange.close();
  }

  private static <T> T join(CompletableFuture<T> stage) {
    return stage.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
  }

  private Answer make(Visit visit) {
    return join(exchange.visit(visit).toCompletableFuture());
  }

  private Answer visit(String replica) {
    return make(new Visit(replica, INCARNATION, "", 0, 0, null, false));
  }

  private Answer report(String replica, String text) {
    return make(new Visit(replica, INCARNATION, text, 0, 0, null, false));
  }

  private Answer read(String replica, long knownEpoch, long knownVersion) {
    return make(new Visit(replica, INCARNATION, "", knownEpoch, knownVersion, null, false));
  }

  private Answer publish(String replica, long epoch, long version, String text) {
    return make(new Visit(replica, INCARNATION, "", 0, 0, new Record(epoch, version, text), false));
  }

  private Answer leave(String replica) {
    return make(new Visit(replica, INCARNATION, "", 0, 0, null, true));
  }

  private static Answer steers(String replica, long epoch) {
    return new Answer(replica, epoch, false, null, List.of(), 0);
  }

  @Test
  void theFirstVisitorSteersAndOthersLearnWho() {
    Answer first = visit(A);
    assertThat(first).isEqualTo(steers(A, clock.wallMillis()));
    assertThat(visit(B)).isEqualTo(steers(A, 0));
    assertThat(visit(A)).isEqualTo(first);
  }

  @Test
  void visitsRenewALeaseOnceEveryHalfSecond() {
    long epoch = visit(A).epoch();
    for (int i = 0; i < 50; i++) {
      clock.advance(100);
      assertThat(visit(A).epoch()).isEqualTo(epoch);
      assertThat(visit(B)).isEqualTo(steers(A, 0));
    }
  }

  @Test
  void aLeaseEndsAfterItsLengthSinceTheLastRenewal() {
    long epoch = visit(A).epoch();
    clock.advance(499);
    visit(A); // too early to renew
    clock.advance(SteeringExchange.LEASE_MILLIS - 499);
    assertThat(visit(B)).as("at its end").isEqualTo(steers(A, 0));
    clock.advance(1);
    Answer next = visit(B);
    assertThat(next).isEqualTo(steers(B, clock.wallMillis()));
    assertThat(next.epoch()).isGreaterThan(epoch);
    clock.advance(500);
    assertThat(visit(B)).as("renewed").isEqualTo(next);
    clock.advance(SteeringExchange.LEASE_MILLIS);
    assertThat(visit(A)).isEqualTo(steers(B, 0));
  }

  @Test
  void aHolderWhoseLeaseEndedKeepsItsEpochIfNoOtherSteered() {
    long epoch = visit(A).epoch();
    clock.advance(60_000);
    assertThat(visit(A)).isEqualTo(steers(A, epoch));
    assertThat(visit(B)).isEqualTo(steers(A, 0));
  }

  @Test
  void aHolderThatKnowsARecordWhichTheExchangeLostBeginsALease() {
    long epoch = visit(A).epoch();
    publish(A, epoch, 3, "x");
    assertThat(read(A, epoch, 3)).as("nothing is lost").isEqualTo(steers(A, epoch));
    assertThat(read(B, epoch, 4)).as("the holder decides").isEqualTo(steers(A, 0));
    long next = read(A, epoch, 4).epoch();
    assertThat(next).isGreaterThan(epoch);
    assertThat(read(A, epoch, 4).epoch()).as("until it publishes").isEqualTo(next);
    assertThat(publish(A, epoch, 5, "late").published()).isFalse();
    assertThat(publish(A, next, 5, "y").published()).isTrue();
    assertThat(read(B, epoch, 4).record()).isEqualTo(new Record(next, 5, "y"));
  }

  @Test
  void aReplicaThatKnowsALaterEpochTakesTheLeaseOfAnEarlierOne() {
    long epoch = visit(A).epoch();
    long lost = epoch + 60_000;
    Visit bringing = new Visit(B, INCARNATION, "report", lost, 1, null, false);
    long next = make(bringing).epoch();
    assertThat(next).isGreaterThan(lost);
    assertThat(read(C, lost, 2)).isEqualTo(steers(B, 0));
    assertThat(visit(A)).isEqualTo(steers(B, 0));
    assertThat(make(new Visit(C, INCARNATION, "", next + 1, 1, null, true)).steering())
        .as("one that leaves takes none")
        .isEqualTo(B);
  }

  @Test
  void anotherIncarnationOfAnIdIsAnotherReplica() {
    visit(A);
    Visit twin = new Visit(A, Long.MIN_VALUE, "", 0, 0, null, false);
    assertThat(make(twin)).isEqualTo(steers(A, 0));
    Visit leaving = new Visit(A, Long.MIN_VALUE, "", 0, 0, null, true);
    assertThat(make(leaving)).isEqualTo(steers(A, 0));
    clock.advance(SteeringExchange.LEASE_MILLIS + 1);
    assertThat(make(twin)).isEqualTo(steers(A, clock.wallMillis()));
    assertThat(visit(A)).isEqualTo(steers(A, 0));
  }

  @Test
  void aReplicaThatLeavesLetsAnotherOneSteerAtOnce() {
    long epoch = visit(A).epoch();
    assertThat(leave(B)).isEqualTo(steers(A, 0));
    assertThat(leave(A)).isEqualTo(steers("", 0));
    assertThat(leave(A)).as("again").isEqualTo(steers("", 0));
    Answer next = visit(B);
    assertThat(next.steering()).isEqualTo(B);
    assertThat(next.epoch()).isGreaterThan(epoch);
    clock.advance(SteeringExchange.LEASE_MILLIS + 1);
    assertThat(leave(A)).as("the lease has ended").isEqualTo(steers("", 0));
  }

  @Test
  void anEpochIsAboveEveryOtherOneThatTheVisitorKnows() {
    long known = clock.wallMillis() + 1_000_000_000L;
    assertThat(read(A, known, 3)).isEqualTo(steers(A, known + 1));
    leave(A);
    assertThat(visit(B)).isEqualTo(steers(B, known + 2));
  }

  @Test
  void aRecordIsReturnedToReplicasThatHaveAnOlderOne() {
    long epoch = visit(A).epoch();
    Answer published = publish(A, epoch, 4, ODD);
    assertThat(published).isEqualTo(new Answer(A, epoch, true, null, List.of(), 0));
    Record record = new Record(epoch, 4, ODD);
    assertThat(visit(B).record()).isEqualTo(record);
    assertThat(read(B, epoch, 3).record()).isEqualTo(record);
    assertThat(read(B, epoch - 1, 9).record()).isEqualTo(record);
    assertThat(read(B, epoch, 4).record()).isNull();
    assertThat(read(B, epoch, 5).record()).isNull();
    assertThat(read(B, epoch + 1, 1).record()).isNull();
    assertThat(visit(A).record()).as("of its own").isEqualTo(record);
  }

  @Test
  void aRecordOutlivesItsHolder() {
    long epoch = visit(A).epoch();
    publish(A, epoch, 1, "kept");
    clock.advance(TimeUnit.DAYS.toMillis(7) - 1_000);
    Answer next = visit(B);
    assertThat(next.epoch()).isGreaterThan(epoch);
    assertThat(next.record()).isEqualTo(new Record(epoch, 1, "kept"));
  }

  @Test
  void aRecordThatIsNotNewerIsRefused() {
    long epoch = visit(A).epoch();
    publish(A, epoch, 4, "four");
    Answer older = publish(A, epoch, 3, "three");
    assertThat(older.published()).isFalse();
    assertThat(older.record()).isEqualTo(new Record(epoch, 4, "four"));
    assertThat(publish(A, epoch, 5, "five").published()).isTrue();
    assertThat(visit(B).record()).isEqualTo(new Record(epoch, 5, "five"));
  }

  @Test
  void aRecordThatWasPublishedBeforeCountsAsPublished() {
    long epoch = visit(A).epoch();
    publish(A, epoch, 4, "four");
    Answer repeated = publish(A, epoch, 4, "four");
    assertThat(repeated).isEqualTo(new Answer(A, epoch, true, null, List.of(), 0));
    assertThat(visit(B).record()).isEqualTo(new Record(epoch, 4, "four"));
  }

  @Test
  void aRecordOfAnEarlierEpochIsRefused() {
    long epoch = visit(A).epoch();
    publish(A, epoch, 7, "first");
    clock.advance(SteeringExchange.LEASE_MILLIS + 1);
    long next = visit(B).epoch();
    assertThat(publish(A, epoch, 8, "late").published()).as("before the new holder").isFalse();
    assertThat(publish(A, next, 8, "forged").published()).as("without the lease").isFalse();
    assertThat(publish(B, epoch, 8, "other").published()).as("of another epoch").isFalse();
    assertThat(visit(C).record()).isEqualTo(new Record(epoch, 7, "first"));
    assertThat(publish(B, next, 1, "second").published()).as("a lower version").isTrue();
    assertThat(visit(C).record()).isEqualTo(new Record(next, 1, "second"));
    leave(B);
    assertThat(visit(A).epoch()).isGreaterThan(next);
    assertThat(publish(A, epoch, 9, "late").published()).as("in a later lease").isFalse();
  }

  @Test
  void aReplicaThatLeavesPublishesNothing() {
    long epoch = visit(A).epoch();
    Record record = new Record(epoch, 1, "x");
    assertThat(make(new Visit(A, INCARNATION, "", 0, 0, record, true)).published()).isFalse();
    assertThat(visit(B).record()).isNull();
  }

  @Test
  void theSteeringReplicaGetsEachReportOnceInTheirOrder() {
    visit(A);
    report(B, "1");
    report(C, ODD);
    report(B, "3");
    assertThat(visit(C)).as("not to others").isEqualTo(steers(A, 0));
    assertThat(report(A, "own").reports())
        .containsExactly(
            new Report(B, "1"), new Report(C, ODD), new Report(B, "3"), new Report(A, "own"));
    assertThat(visit(A).reports()).isEmpty();
  }

  @Test
  void reportsWaitForTheNextReplicaThatSteers() {
    visit(A);
    report(B, "1");
    Visit last = new Visit(A, INCARNATION, "last", 0, 0, null, true);
    assertThat(make(last)).isEqualTo(steers("", 0));
    assertThat(report(C, "2").reports())
        .containsExactly(new Report(B, "1"), new Report(A, "last"), new Report(C, "2"));
  }

  @Test
  void tooManyReportsDropTheOldest() {
    visit(A);
    int most = SteeringExchange.MAX_REPORTS;
    IntStream.range(0, most).forEach(i -> report(B, "r" + i));
    Answer full = visit(A);
    assertThat(full.reports()).hasSize(most);
    assertThat(full.dropped()).isZero();
    IntStream.range(0, most + 3).forEach(i -> report(B, "s" + i));
    Answer more = report(A, "own");
    assertThat(more.reports())
        .hasSize(most)
        .startsWith(new Report(B, "s4"))
        .endsWith(new Report(A, "own"));
    assertThat(more.dropped()).isEqualTo(4);
    assertThat(visit(A)).as("counted once").isEqualTo(steers(A, more.epoch()));
  }

  @Test
  void reportsExpire() {
    visit(A);
    report(B, "old");
    clock.advance(1_000);
    visit(C); // holds no lease and gets none
    report(B, "kept");
    clock.advance(SteeringExchange.KEPT_MILLIS - 999);
    Answer answer = visit(A);
    assertThat(answer.reports()).containsExactly(new Report(B, "kept"));
    assertThat(answer.dropped()).isEqualTo(1);
  }

  @Test
  void theLongestTextsArriveAsTheyWereLeft() {
    String report = repeated(ODD, SteeringExchange.MAX_REPORT);
    String record = repeated("☃ plan ", SteeringExchange.MAX_RECORD);
    String replica = repeated(ODD, SteeringExchange.MAX_REPLICA);
    long epoch = visit(A).epoch();
    report(replica, report);
    Answer answer = publish(A, epoch, 1, record);
    assertThat(answer.reports().equals(List.of(new Report(replica, report)))).isTrue();
    assertThat(Objects.requireNonNull(visit(B).record()).text().equals(record)).isTrue();
    leave(A);
    assertThat(visit(replica).steering()).isEqualTo(replica);
    assertThat(visit(replica).epoch()).isPositive();
    assertThat(visit(A).steering()).isEqualTo(replica);
  }

  private static String repeated(String part, int length) {
    String text = part.repeat(length / part.length() + 1).substring(0, length);
    return Character.isHighSurrogate(text.charAt(length - 1))
        ? text.substring(0, length - 1) + '.'
        : text;
  }

  @Test
  void emptyRecordsArePublished() {
    long epoch = visit(A).epoch();
    assertThat(publish(A, epoch, 1, "").published()).isTrue();
    assertThat(visit(B).record()).isEqualTo(new Record(epoch, 1, ""));
  }

  @Test
  void numbersUpToTheGreatestAreExact() {
    long epoch = visit(A).epoch();
    long most = SteeringExchange.MAX_NUMBER;
    assertThat(publish(A, epoch, most - 1, "x").published()).isTrue();
    assertThat(read(B, epoch, most - 2).record()).isEqualTo(new Record(epoch, most - 1, "x"));
    assertThat(read(B, epoch, most - 1).record()).isNull();
    assertThat(publish(A, epoch, most, "y").published()).isTrue();
    assertThat(read(B, epoch, most - 1).record()).isEqualTo(new Record(epoch, most, "y"));
  }

  @Test
  void textsAndNumbersOutOfRangeAreRejected() {
    for (String text : List.of("a\0b", "\ud83d", "a\ude00", "\ud83dx", "\ude00\ud83d")) {
      rejects(() -> new Visit(text, 1, "", 0, 0, null, false));
      rejects(() -> new Visit(A, 1, text, 0, 0, null, false));
      rejects(() -> new Record(1, 1, text));
    }
    rejects(() -> new Visit("", 1, "", 0, 0, null, false));
    rejects(() -> new Visit("x".repeat(257), 1, "", 0, 0, null, false));
    String report = "x".repeat(SteeringExchange.MAX_REPORT + 1);
    rejects(() -> new Visit(A, 1, report, 0, 0, null, false));
    String record = "x".repeat(SteeringExchange.MAX_RECORD + 1);
    rejects(() -> new Record(1, 1, record));
    for (long number : new long[] {-1, SteeringExchange.MAX_NUMBER + 1}) {
      rejects(() -> new Visit(A, 1, "", number, 0, null, false));
      rejects(() -> new Visit(A, 1, "", 0, number, null, false));
      rejects(() -> new Record(number, 1, ""));
      rejects(() -> new Record(1, number, ""));
    }
    rejects(() -> new Record(0, 1, ""));
    rejects(() -> new Record(1, 0, ""));
  }

  private static void rejects(Runnable made) {
    assertThatThrownBy(made::run).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ofConcurrentVisitorsOneSteersAndGetsAllReports() {
    List<Visit> visits = new ArrayList<>();
    for (int round = 0; round < 50; round++) {
      for (String replica : List.of(A, B, C)) {
        visits.add(new Visit(replica, INCARNATION, replica + ' ' + round, 0, 0, null, false));
      }
    }
    List<CompletableFuture<Answer>> calls =
        visits.stream().map(visit -> exchange.visit(visit).toCompletableFuture()).toList();
    List<Answer> answers =
        new ArrayList<>(calls.stream().map(SteeringExchangeConformance::join).toList());
    String steering = answers.getFirst().steering();
    answers.add(visit(steering));
    assertThat(answers).allSatisfy(answer -> assertThat(answer.steering()).isEqualTo(steering));
    assertThat(answers.stream().filter(answer -> answer.epoch() > 0)).hasSize(51);
    assertThat(answers.stream().filter(answer -> answer.epoch() > 0).map(Answer::epoch))
        .containsOnly(clock.wallMillis());
    List<Report> reports = answers.stream().flatMap(answer -> answer.reports().stream()).toList();
    assertThat(reports).doesNotHaveDuplicates();
    long dropped = answers.stream().mapToLong(Answer::dropped).sum();
    assertThat(reports.size() + dropped).isEqualTo(visits.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void answersAreThoseOfTheReferenceInRandomHistories(long seed) {
    var expected = new InMemorySteeringExchange(clock);
    var history = new RandomVisits(seed, clock);
    for (int step = 0; step < 800; step++) {
      Visit visit = history.next();
      Answer answer = make(visit);
      assertThat(answer)
          .as("seed %d, step %d, %s", seed, step, visit)
          .isEqualTo(join(expected.visit(visit).toCompletableFuture()));
      history.answered(visit, answer);
    }
    history.assertThatAllWasReached();
  }

  @Test
  void rejectsVisitsOnceClosed() {
    exchange.close();
    assertThat(exchange.visit(new Visit(A, 1, "", 0, 0, null, false)).toCompletableFuture())
        .failsWithin(TIMEOUT)
        .withThrowableThat()
        .withCauseInstanceOf(StoreException.class);
  }
}
