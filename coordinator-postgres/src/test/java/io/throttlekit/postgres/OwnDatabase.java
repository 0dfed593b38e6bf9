package io.throttlekit.postgres;

import io.throttlekit.testkit.postgres.PostgresProcess;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A database for all tests of a class, on a server that all classes share. */
final class OwnDatabase implements BeforeAllCallback, AfterAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(OwnDatabase.class);

  private static final List<String> TABLES =
      List.of(
          "counters",
          "tenants",
          "counter_epoch",
          "parties",
          "agreements",
          "windows",
          "returns",
          "budget_pools",
          "budget_tenants",
          "budget_epoch",
          "escrow",
          "refills",
          "fleet_nodes",
          "fleets",
          "fleet_epoch",
          "releases",
          "release_processes",
          "steering",
          "steering_reports",
          "records");

  private @Nullable PostgresProcess server;
  private @Nullable Connection connection;
  private String name = "";

  /** Closed by JUnit after the last class. */
  private record Shared(PostgresProcess server) implements AutoCloseable {
    @Override
    public void close() {
      server.close();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) throws SQLException {
    server =
        context
            .getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(
                Shared.class, _ -> new Shared(PostgresProcess.startFast()), Shared.class)
            .server();
    name = context.getRequiredTestClass().getSimpleName().toLowerCase(Locale.ROOT);
    try (Connection admin = server.connect("postgres");
        Statement sql = admin.createStatement()) {
      sql.execute("CREATE DATABASE " + name);
    }
    connection = server.connect(name);
  }

  @Override
  public void afterAll(ExtensionContext context) throws SQLException {
    if (connection != null) {
      connection.close();
    }
  }

  String name() {
    return name;
  }

  int port() {
    return Objects.requireNonNull(server).port();
  }

  String url() {
    return Objects.requireNonNull(server).url(name);
  }

  /** Opens another connection as the superuser. */
  Connection connect() throws SQLException {
    return Objects.requireNonNull(server).connect(name);
  }

  /** Empties all tables except the schema's version, if they exist. */
  void empty() {
    if (!query("SELECT to_regclass('throttlekit.counters')").isEmpty()) {
      for (String table : TABLES) { // TRUNCATE would write new files, for each test
        run("DELETE FROM throttlekit." + table);
      }
    }
  }

  void run(String sql) {
    try (Statement statement = Objects.requireNonNull(connection).createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Returns the first column of the first row as text; empty for null or no row. */
  String query(String sql) {
    try (Statement statement = Objects.requireNonNull(connection).createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      String text = rows.next() ? rows.getString(1) : null;
      return text == null ? "" : text;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
