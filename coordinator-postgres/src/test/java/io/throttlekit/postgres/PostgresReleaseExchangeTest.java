package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What calls write, transactions that overtake each other, and the deletion of abandoned rows. */
@RealPostgres
class PostgresReleaseExchangeTest {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();
  private static final String PROCESSES =
      "SELECT string_agg(xmin::text, ' ' ORDER BY address)" + " FROM throttlekit.release_processes";
  private static final String COUNT = "SELECT count(*) FROM throttlekit.";

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @BeforeEach
  void empty() {
    database.empty();
  }

  private PostgresReleaseExchange open(long collectEveryMillis) {
    return new PostgresReleaseExchange(
        Wanted.of(database.url()).collectEvery(collectEveryMillis).settings(),
        TestSurroundings.clock(clock));
  }

  private static Delivery poll(ReleaseExchange exchange, String address, long receipt) {
    return answer(exchange.exchange(address, receipt, List.of()));
  }

  private static Delivery send(ReleaseExchange exchange, String address, String text) {
    return answer(exchange.exchange("b", 0, List.of(new Release(address, text))));
  }

  @Test
  void callsRegisterTheirProcessEveryTwoMinutesOnly() {
    try (PostgresReleaseExchange exchange = open(3_600_000)) {
      poll(exchange, "a", 0);
      String written = database.query(PROCESSES);
      clock.advance(120_000);
      poll(exchange, "a", 0);
      assertThat(database.query(PROCESSES)).isEqualTo(written);
      clock.advance(1);
      poll(exchange, "a", 0);
      assertThat(database.query(PROCESSES)).isNotEqualTo(written);
    }
  }

  @Test
  void aReleaseThatIsCommittedAfterALaterOneIsDelivered() throws SQLException {
    try (PostgresReleaseExchange exchange = open(3_600_000);
        Connection slow = database.connect();
        Statement sql = slow.createStatement()) {
      poll(exchange, "a", 0);
      slow.setAutoCommit(false);
      sql.execute(
          "INSERT INTO throttlekit.releases (address, release, kept_until_millis)"
              + " VALUES ('a', 'slow', 1800000000000)");
      send(exchange, "a", "fast");
      Delivery first = poll(exchange, "a", 0);
      assertThat(first.releases()).containsExactly("fast");
      slow.commit();
      assertThat(poll(exchange, "a", first.receipt()).releases()).containsExactly("slow");
    }
  }

  @Test
  void processesThatFillEachOthersQueuesDoNotBlockEachOther() {
    try (PostgresReleaseExchange exchange = open(3_600_000)) {
      poll(exchange, "x", 0);
      poll(exchange, "y", 0);
      List<CompletableFuture<Delivery>> calls = new ArrayList<>();
      for (int i = 0; i < 15; i++) {
        calls.add(exchange.exchange("x", 0, batch("y")).toCompletableFuture());
        calls.add(exchange.exchange("y", 0, batch("x")).toCompletableFuture());
      }
      long dropped = calls.stream().mapToLong(call -> answer(call).dropped()).sum();
      assertThat(dropped).isPositive();
    }
  }

  private static List<Release> batch(String address) {
    return IntStream.range(0, ReleaseExchange.MAX_BATCH)
        .mapToObj(i -> new Release(address, "r" + i))
        .toList();
  }

  @Test
  void abandonedProcessesAndReleasesAreDeleted() {
    try (PostgresReleaseExchange exchange = open(20)) {
      poll(exchange, "a", 0);
      send(exchange, "a", "x");
      assertThat(database.query(COUNT + "releases")).isEqualTo("1");
      assertThat(database.query(COUNT + "release_processes")).isEqualTo("2");
      clock.advance(ReleaseExchange.KEPT_MILLIS + Garbage.SLACK_MILLIS + 1);
      await("no releases", () -> database.query(COUNT + "releases").equals("0"));
      await("no processes", () -> database.query(COUNT + "release_processes").equals("0"));
    }
  }
}
