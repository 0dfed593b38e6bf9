package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.await;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Faults of one concurrency limit, or of the server, that must not spread or multiply. */
@RealPostgres
class PostgresLimitsApartTest {
  private static final String WAITING =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
          + " AND datname = current_database()";
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();

  @BeforeEach
  void empty() {
    database.empty();
  }

  @Test
  void aLockedLimitOccupiesOneConnection() throws SQLException {
    try (PostgresConcurrencyCoordinator limits = open(Wanted.of(database.url()).connections(2));
        Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      answer(limits.heartbeat(of("locked", "a", 1)));
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.fleets FOR UPDATE");
      List<CompletableFuture<ShareGrant>> locked =
          List.of(
              limits.heartbeat(of("locked", "a", 2)).toCompletableFuture(),
              limits.heartbeat(of("locked", "b", 1)).toCompletableFuture());
      await("locked", () -> database.query(WAITING).equals("1"));
      assertThat(answer(limits.heartbeat(of("free", "a", 1))).status()).isEqualTo(Status.MEMBER);
      assertThat(locked).noneMatch(CompletableFuture::isDone);
      holder.rollback();
      locked.forEach(each -> assertThat(answer(each).status()).isEqualTo(Status.MEMBER));
    }
  }

  @Test
  void aHeartbeatDoesNotWaitForALockAsLongAsForAnAnswer() throws SQLException {
    try (PostgresConcurrencyCoordinator limits =
            open(
                Wanted.of(database.url())
                    .connections(1)
                    .deadlines(400, Wanted.LONG_MILLIS)
                    .breaker(1, 60_000, 10));
        Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      answer(limits.heartbeat(of("locked", "a", 1)));
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.fleets FOR UPDATE");
      assertThat(failure(limits.heartbeat(of("locked", "a", 2))))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("lock timeout");
      assertThat(listener.isUp()).as("the server answers").isTrue();
      assertThat(answer(limits.heartbeat(of("free", "a", 1))).status()).isEqualTo(Status.MEMBER);
      holder.rollback();
    }
  }

  @Test
  void connectionsToAReadOnlyServerAreReplacedOnceASecond() throws SQLException {
    ManualTime clock = new ManualTime(0);
    try (PostgresProcess server = PostgresProcess.start();
        PostgresConcurrencyCoordinator limits =
            new PostgresConcurrencyCoordinator(
                Wanted.of(server.url("postgres")).connections(2).settings(),
                Coordination.DEFAULT,
                new Database.Surroundings(clock, TestSurroundings.TIMER, listener, null))) {
      answer(limits.heartbeat(of("limit", "a", 1)));
      try (Connection operator = server.connect("postgres");
          Statement sql = operator.createStatement()) {
        // Of the server: sessions override the setting of a role or a database.
        sql.execute("ALTER SYSTEM SET default_transaction_read_only = on");
        sql.execute("SELECT pg_reload_conf()");
        sql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
      }
      await("read-only", () -> !StoreCalls.answers(limits.heartbeat(of("limit", "a", 2))));
      for (int i = 0; i < 5; i++) {
        failure(limits.heartbeat(of("limit", "a", 2)));
      }
      assertThat(listener.triedAgain.get()).as("the lost connections").isLessThanOrEqualTo(3);
      int before = listener.triedAgain.get();
      clock.advance(1_000);
      failure(limits.heartbeat(of("limit", "a", 2)));
      failure(limits.heartbeat(of("limit", "a", 2)));
      assertThat(listener.triedAgain.get() - before).isEqualTo(1);
    }
  }

  private static Heartbeat of(String limit, String node, long sequence) {
    return new Heartbeat(
        limit, node, 1, sequence, 10, true, 0, 0, 1, sequence - 1, 3_600_000, 0, null, null);
  }

  private PostgresConcurrencyCoordinator open(Wanted wanted) {
    return new PostgresConcurrencyCoordinator(
        wanted.settings(),
        Coordination.DEFAULT,
        new Database.Surroundings(TimeSource.system(), TestSurroundings.TIMER, listener, null));
  }
}
