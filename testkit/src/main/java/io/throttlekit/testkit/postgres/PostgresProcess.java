package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.TemporaryFolder;
import io.throttlekit.testkit.image.ContainerProcess;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A real PostgreSQL on a free port of the loopback interface, ended by {@link #close} and at the
 * latest with this JVM. Every client has all privileges.
 *
 * <p>For one thread.
 */
public final class PostgresProcess implements AutoCloseable {
  /** The role with all privileges. */
  public static final String SUPERUSER = "postgres";

  private static final int TIMEOUT_MILLIS = 240_000;
  private static final int POLL_MILLIS = 10;

  private final List<String> options;
  private final Path folder;
  private final ReservedPort port;
  private final Thread shutdownHook = new Thread(this::kill);
  private Process process;

  private PostgresProcess(ReservedPort port, Path folder, List<String> options) throws IOException {
    this.port = port;
    this.folder = folder;
    this.options = options;
    if (!Files.exists(data())) {
      copy(NewServer.data(), data());
    }
    this.process = launch();
    Runtime.getRuntime().addShutdownHook(shutdownHook);
  }

  /** Starts a server that survives crashes without loss, and waits until it answers. */
  public static PostgresProcess start(String... options) {
    List<String> all = new ArrayList<>(List.of("max_connections=200", "shared_buffers=64MB"));
    all.addAll(List.of(options));
    try {
      Path folder = Files.createTempDirectory("postgres");
      PostgresProcess server = new PostgresProcess(ReservedPort.take(), folder, all);
      server.awaitAnswer();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a server that is fast but not durable. */
  public static PostgresProcess startFast() {
    return start("fsync=off", "full_page_writes=off", "synchronous_commit=off");
  }

  /**
   * Starts a standby of this server, which is shut down for it and started again.
   *
   * @param options of this server from now on, besides those of both
   */
  public PostgresProcess startStandby(String... options) {
    try {
      stop();
      Path copy = Files.createTempDirectory("postgres");
      copy(data(), copy.resolve("data"));
      Files.createFile(copy.resolve("data").resolve("standby.signal"));
      Files.writeString( // ALTER SYSTEM can change it there
          copy.resolve("data").resolve("postgresql.auto.conf"),
          "primary_conninfo = 'host=127.0.0.1 port=%d user=%s'\n".formatted(port(), SUPERUSER));
      List<String> ofStandby = new ArrayList<>(this.options);
      ofStandby.add("wal_retrieve_retry_interval=100ms");
      this.options.addAll(List.of(options));
      process = launch();
      PostgresProcess standby = new PostgresProcess(ReservedPort.take(), copy, ofStandby);
      standby.awaitAnswer();
      awaitAnswer();
      return standby;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Shuts it down while clients are connected (SIGINT: SIGTERM would wait for them to disconnect).
   */
  public void stop() {
    signal("INT", List.of(process.pid()));
    awaitEnd();
  }

  private Path data() {
    return folder.resolve("data");
  }

  private static void copy(Path data, Path target) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.toList()) {
        Path copy = target.resolve(data.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    }
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwx------"));
  }

  /** Returns its port on 127.0.0.1. */
  public int port() {
    return port.number();
  }

  /** Returns the URL of a database. */
  public String url(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port() + "/" + database;
  }

  /** Opens a connection as the superuser, with automatic commits and timeouts. */
  public Connection connect(String database) throws SQLException {
    return DriverManager.getConnection(
        url(database) + "?socketTimeout=" + TIMEOUT_MILLIS / 1000, SUPERUSER, "");
  }

  /** Kills it and all its children (SIGKILL), as a crash of the machine would. */
  public void kill() {
    List<ProcessHandle> children = children();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
    awaitEnd();
    for (ProcessHandle child : children) { // they hold shared memory that the next start would find
      child.onExit().orTimeout(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS).join();
    }
  }

  /** Starts it again on the same port and data, after {@link #kill}. */
  public void restart() {
    try {
      process = launch();
      awaitAnswer();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Promotes this standby to primary, and returns once it accepts writes. */
  public void promote() throws SQLException {
    try (Connection connection = connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_promote()");
    }
  }

  /** Makes it hang: connections stay open without answers (SIGSTOP). */
  public void hang() {
    signal("STOP", List.of(process.pid())); // first: then it neither starts nor reaps children
    Set<Long> stopped = new HashSet<>();
    for (List<Long> more = childrenBut(stopped); !more.isEmpty(); more = childrenBut(stopped)) {
      signal("STOP", more);
      stopped.addAll(more);
    }
  }

  /** Ends {@link #hang} (SIGCONT). */
  public void goOn() {
    List<Long> all = childrenBut(Set.of());
    all.add(process.pid());
    signal("CONT", all);
  }

  /** Returns its log. */
  public String log() {
    try {
      return Files.readString(folder.resolve("log"), StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  @Override
  public void close() {
    kill();
    Runtime.getRuntime().removeShutdownHook(shutdownHook);
    port.close();
    TemporaryFolder.delete(folder);
  }

  private Process launch() throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(PostgresProgram.path("postgres").toString(), "-D"));
    command.addAll(List.of(data().toString(), "-p", String.valueOf(port())));
    command.addAll(List.of("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="));
    for (String option : options) {
      command.addAll(List.of("-c", option));
    }
    return started(command, folder.resolve("log"));
  }

  /**
   * Starts a command; as root in a user namespace of its own, because PostgreSQL refuses to run as
   * root.
   */
  static Process started(List<String> command, Path log) throws IOException {
    List<String> all = new ArrayList<>();
    if (System.getProperty("user.name").equals("root")) {
      all.addAll(List.of("unshare", "-U"));
    }
    all.addAll(command);
    String image = PostgresProgram.image();
    if (image != null) {
      return ContainerProcess.start(image, all, log);
    }
    return new ProcessBuilder(all)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
        .start();
  }

  private void awaitAnswer() throws IOException {
    for (int waited = 0; waited < TIMEOUT_MILLIS; waited += POLL_MILLIS) {
      try (Connection _ = connect("postgres")) {
        return;
      } catch (SQLException _) {
        if (waitFor(POLL_MILLIS)) {
          throw new IOException("PostgreSQL ended at once:\n" + log());
        }
      }
    }
    throw new IOException("PostgreSQL does not answer:\n" + log());
  }

  private List<ProcessHandle> children() {
    try (Stream<ProcessHandle> children = process.descendants()) {
      return children.toList();
    }
  }

  private void awaitEnd() {
    if (!waitFor(TIMEOUT_MILLIS)) {
      throw new IllegalStateException("process " + process.pid() + " does not end");
    }
  }

  private boolean waitFor(int millis) {
    try {
      return process.waitFor(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private List<Long> childrenBut(Set<Long> known) {
    List<Long> pids = new ArrayList<>();
    for (ProcessHandle child : children()) {
      if (!known.contains(child.pid())) {
        pids.add(child.pid());
      }
    }
    return pids;
  }

  private static void signal(String name, List<Long> pids) {
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    pids.forEach(pid -> command.add(String.valueOf(pid)));
    try {
      if (new ProcessBuilder(command).start().waitFor() != 0) {
        throw new IllegalStateException("no " + command);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
