package io.throttlekit.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The behaviour of every {@link ReleaseExchange}. */
public abstract class ReleaseExchangeConformance {
  private static final Duration TIMEOUT = Duration.ofMinutes(4);
  private static final String A = "aaaaaa-1";
  private static final String B = "zik0zj-mh2k9x1c";

  private ReleaseExchange exchange;

  /** Opens an exchange without processes. */
  protected abstract ReleaseExchange open();

  /** Advances the exchange's clock. */
  protected abstract void advance(long millis);

  @BeforeEach
  void openExchange() {
    exchange = open();
  }

  @AfterEach
  void closeExchange() {
    exchange.close();
  }

  private Delivery poll(String address, long receipt) {
    return send(address, receipt, List.of());
  }

  private Delivery poll(String address) {
    return poll(address, Delivery.NO_RECEIPT);
  }

  private Delivery send(String address, long receipt, List<Release> releases) {
    return exchange
        .exchange(address, receipt, releases)
        .toCompletableFuture()
        .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  private static List<Release> to(String address, String... texts) {
    return Stream.of(texts).map(text -> new Release(address, text)).toList();
  }

  private static List<Release> numbered(String address, int from, int end) {
    return IntStream.range(from, end).mapToObj(i -> new Release(address, "r" + i)).toList();
  }

  @Test
  void aProcessGetsTheReleasesForItInTheirOrder() {
    assertThat(poll(A)).isEqualTo(new Delivery(Delivery.NO_RECEIPT, List.of(), 0, 0));
    poll(B);
    assertThat(send(B, 0, to(A, "1 x", "1 y"))).extracting(Delivery::unknown).isEqualTo(0L);
    send(B, 0, to(A, "1 z"));
    assertThat(poll(B).releases()).isEmpty();
    assertThat(poll(A).releases()).containsExactly("1 x", "1 y", "1 z");
  }

  @Test
  void releasesAreReturnedUntilTheyAreAcknowledged() {
    poll(A);
    send(B, 0, to(A, "x", "y"));
    Delivery lost = poll(A);
    send(B, 0, to(A, "z"));
    Delivery repeated = poll(A);
    assertThat(lost.releases()).containsExactly("x", "y");
    assertThat(repeated.releases()).containsExactly("x", "y", "z");
    send(B, 0, to(A, "last"));
    Delivery rest = poll(A, repeated.receipt());
    assertThat(rest.releases()).containsExactly("last");
    assertThat(poll(A, rest.receipt()).releases()).isEmpty();
    assertThat(poll(A, rest.receipt()).releases()).isEmpty();
  }

  @Test
  void aReceiptOfEarlierReleasesRemovesNoLaterOne() {
    poll(A);
    send(B, 0, to(A, "x"));
    long receipt = poll(A).receipt();
    assertThat(poll(A, receipt).releases()).isEmpty();
    send(B, 0, to(A, "y"));
    assertThat(poll(A, receipt).releases()).containsExactly("y");
    assertThat(poll(A, receipt).releases()).containsExactly("y");
    assertThat(poll(A, 12_345).releases()).as("never given").containsExactly("y");
  }

  @Test
  void releasesThatAreEqualAreAllDelivered() {
    poll(A);
    send(B, 0, to(A, "x", "x"));
    Delivery both = poll(A);
    assertThat(both.releases()).containsExactly("x", "x");
    send(B, 0, to(A, "x"));
    assertThat(poll(A, both.receipt()).releases()).containsExactly("x");
  }

  private List<String> claim(String address) {
    return exchange
        .claim(address)
        .toCompletableFuture()
        .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  @Test
  void releasesThatWereNeverReturnedAreClaimedOnceAndStillDelivered() {
    poll(A);
    send(B, 0, to(A, "1 x", "1 y"));
    assertThat(claim(A)).containsExactly("1 x", "1 y");
    assertThat(claim(A)).isEmpty();
    send(B, 0, to(A, "1 z"));
    assertThat(claim(A)).containsExactly("1 z");
    assertThat(poll(A).releases()).containsExactly("1 x", "1 y", "1 z");
    assertThat(claim(A)).isEmpty();
  }

  @Test
  void releasesThatTheirProcessMayHaveReceivedAreNotClaimed() {
    poll(A);
    send(B, 0, to(A, "1 x"));
    Delivery delivered = poll(A); // perhaps lost
    send(B, 0, to(A, "1 y"));
    assertThat(claim(A)).containsExactly("1 y");
    assertThat(poll(A, delivered.receipt()).releases()).containsExactly("1 y");
    send(B, 0, to(A, "1 z"));
    Delivery last = poll(A, delivered.receipt());
    assertThat(last.releases()).containsExactly("1 y", "1 z");
    assertThat(poll(A, last.receipt()).releases()).isEmpty();
    assertThat(claim(A)).isEmpty();
  }

  @Test
  void ofReleasesThatWereSentTwiceOneIsClaimed() {
    poll(A);
    send(B, 0, to(A, "1 x", "1 y", "1 x"));
    assertThat(claim(A)).containsExactly("1 x", "1 y");
    send(B, 0, to(A, "1 y", "1 z"));
    assertThat(claim(A)).containsExactly("1 z");
    poll(B);
    send(A, 0, to(B, "1 v"));
    poll(B); // v may have been received
    send(A, 0, to(B, "1 v", "1 w"));
    assertThat(claim(B)).containsExactly("1 w");
  }

  @Test
  void aClaimMakesNoProcessKnown() {
    assertThat(claim(A)).isEmpty();
    assertThat(send(B, 0, to(A, "1 x")).unknown()).isEqualTo(1);
    poll(A);
    send(B, 0, to(A, "1 y"));
    advance(ReleaseExchange.KEPT_MILLIS / 2);
    assertThat(claim(A)).containsExactly("1 y");
    advance(ReleaseExchange.KEPT_MILLIS / 2 + 10_000);
    assertThat(claim(A)).isEmpty();
    assertThat(send(B, 0, to(A, "1 z")).unknown()).isEqualTo(1);
  }

  @Test
  void manyReleasesAreClaimedInBatches() {
    poll(A);
    for (int i = 0; i < 3; i++) {
      send(B, 0, numbered(A, i * 700, (i + 1) * 700));
    }
    List<String> all = new ArrayList<>(claim(A));
    assertThat(all).hasSize(ReleaseExchange.MAX_BATCH);
    all.addAll(claim(A));
    all.addAll(claim(A));
    assertThat(all).hasSize(2_100).doesNotHaveDuplicates();
    assertThat(claim(A)).isEmpty();
  }

  @Test
  void oneCallSendsToManyProcessesAndReceives() {
    poll(A);
    poll(B);
    poll("c");
    send(A, 0, to(B, "for b"));
    List<Release> mixed = new ArrayList<>(to(A, "1"));
    mixed.addAll(to("c", "2"));
    mixed.addAll(to(A, "3"));
    mixed.addAll(to("unknown", "4"));
    Delivery answer = send(B, 0, mixed);
    assertThat(answer.releases()).containsExactly("for b");
    assertThat(answer.unknown()).isEqualTo(1);
    assertThat(poll(A).releases()).containsExactly("1", "3");
    assertThat(poll("c").releases()).containsExactly("2");
  }

  @Test
  void releasesForUnknownProcessesAreNotStored() {
    assertThat(send(B, 0, to(A, "x", "y")).unknown()).isEqualTo(2);
    assertThat(poll(A).releases()).isEmpty();
  }

  @Test
  void aProcessIsKnownForTenMinutesAfterItsLastCall() {
    poll(A);
    advance(ReleaseExchange.KEPT_MILLIS - 130_000);
    poll(A);
    advance(ReleaseExchange.KEPT_MILLIS - 130_000);
    assertThat(send(B, 0, to(A, "x")).unknown()).as("renewed").isZero();
    advance(140_000);
    assertThat(send(B, 0, to(A, "y")).unknown()).isEqualTo(1);
  }

  @Test
  void releasesExpireAfterTenMinutes() {
    poll(A);
    send(B, 0, to(A, "old"));
    advance(ReleaseExchange.KEPT_MILLIS / 2);
    assertThat(poll(A).releases()).containsExactly("old");
    send(B, 0, to(A, "new"));
    advance(ReleaseExchange.KEPT_MILLIS / 2 + 1);
    assertThat(poll(A).releases()).containsExactly("new");
  }

  @Test
  void aBatchIsBounded() {
    poll(A);
    send(B, 0, numbered(A, 0, 1_000));
    send(B, 0, numbered(A, 1_000, 1_001));
    Delivery first = poll(A);
    assertThat(first.releases()).hasSize(ReleaseExchange.MAX_BATCH).startsWith("r0", "r1");
    assertThat(poll(A, first.receipt()).releases()).containsExactly("r1000");
    assertThatThrownBy(() -> exchange.exchange(B, 0, numbered(A, 0, 1_001)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aFullQueueDropsTheOldest() {
    poll(A);
    poll("c");
    send(B, 0, to("c", "kept"));
    fill(A);
    Delivery first = poll(A);
    assertThat(send(B, 0, numbered(A, 10_000, 10_003)).dropped()).isEqualTo(3);
    assertThat(poll(A, first.receipt()).releases()).as("received: up to r999").startsWith("r1000");
    assertThat(poll("c").releases()).containsExactly("kept");
    poll("d");
    fill("d");
    assertThat(send(B, 0, numbered("d", 10_000, 10_003)).dropped()).isEqualTo(3);
    assertThat(poll("d").releases()).startsWith("r3", "r4");
  }

  private void fill(String address) {
    for (int i = 0; i < ReleaseExchange.MAX_QUEUE; i += ReleaseExchange.MAX_BATCH) {
      List<Release> batch = numbered(address, i, i + ReleaseExchange.MAX_BATCH);
      assertThat(send(B, 0, batch).dropped()).isZero();
    }
  }

  @Test
  void concurrentCallsLoseNoRelease() {
    poll(A);
    List<CompletableFuture<Delivery>> calls = new ArrayList<>();
    Set<String> expected = new HashSet<>();
    Set<String> received = new HashSet<>();
    long receipt = Delivery.NO_RECEIPT;
    for (int round = 0; round < 40; round++) {
      for (int sender = 0; sender < 4; sender++) {
        String text = round + "." + sender;
        expected.add(text);
        calls.add(exchange.exchange("b" + sender, 0, to(A, text)).toCompletableFuture());
      }
      Delivery delivery = poll(A, receipt);
      received.addAll(delivery.releases());
      receipt = delivery.receipt();
    }
    calls.forEach(call -> assertThat(call).succeedsWithin(TIMEOUT));
    received.addAll(poll(A, receipt).releases());
    assertThat(received).isEqualTo(expected);
  }

  @Test
  void onlyAddressesAndShortPrintableTextsAreAccepted() {
    for (String address : List.of("", "A", "a b", "a|b", "{a}", "x".repeat(65))) {
      assertThatThrownBy(() -> new Release(address, "x"))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> exchange.exchange(address, 0, List.of()))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (String text : List.of("", "a\nb", "é", "\0", "x".repeat(201))) {
      assertThatThrownBy(() -> new Release("a", text)).isInstanceOf(IllegalArgumentException.class);
    }
    String longest = "~ %s?'\"\\;" + "x".repeat(191);
    String address = "x".repeat(64);
    poll(address);
    send(A, 0, to(address, longest));
    assertThat(poll(address).releases()).containsExactly(longest);
  }

  @Test
  void rejectsCallsOnceClosed() {
    exchange.close();
    assertThat(exchange.exchange(A, 0, List.of()).toCompletableFuture())
        .failsWithin(TIMEOUT)
        .withThrowableThat()
        .withCauseInstanceOf(StoreException.class);
  }
}
