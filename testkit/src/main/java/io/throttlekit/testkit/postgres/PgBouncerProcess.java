package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.TemporaryFolder;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A real PgBouncer before all databases of a PostgreSQL, on a free port of the loopback interface,
 * ended by {@link #close} and at the latest with this JVM. Every client is let in.
 *
 * <p>For one thread.
 */
public final class PgBouncerProcess implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 240_000;
  private static final int POLL_MILLIS = 10;

  private final ReservedPort port;
  private final Path folder;
  private final Process process;
  private final Thread shutdownHook;

  private PgBouncerProcess(ReservedPort port, Path folder, Process process) {
    this.port = port;
    this.folder = folder;
    this.process = process;
    this.shutdownHook = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(shutdownHook);
  }

  /**
   * Starts a PgBouncer, and waits until it accepts connections.
   *
   * @param server port of the PostgreSQL on 127.0.0.1
   * @param role as which all clients are logged in
   * @param settings of the section {@code [pgbouncer]}, such as {@code pool_mode = session}
   */
  public static PgBouncerProcess start(int server, String role, String... settings) {
    try {
      ReservedPort port = ReservedPort.take();
      Path folder = Files.createTempDirectory("pgbouncer");
      Path file = folder.resolve("pgbouncer.ini");
      List<String> lines =
          new ArrayList<>(
              List.of(
                  "[databases]",
                  "* = host=127.0.0.1 port=%d user=%s".formatted(server, role),
                  "[pgbouncer]",
                  "listen_addr = 127.0.0.1",
                  "listen_port = " + port.number(),
                  "unix_socket_dir =",
                  "auth_type = any"));
      lines.addAll(List.of(settings));
      Files.write(file, lines);
      List<String> command = new ArrayList<>();
      if (System.getProperty("user.name").equals("root")) { // as which it refuses to run
        command.addAll(List.of("unshare", "-U"));
      }
      command.addAll(List.of(PgBouncerProgram.path().toString(), file.toString()));
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("log").toFile())
              .start();
      PgBouncerProcess started = new PgBouncerProcess(port, folder, process);
      started.awaitConnection();
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the URL of a database through it. */
  public String url(String database) {
    return "jdbc:postgresql://127.0.0.1:" + port.number() + "/" + database;
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
    process.destroyForcibly();
    waitFor(TIMEOUT_MILLIS);
    Runtime.getRuntime().removeShutdownHook(shutdownHook);
    port.close();
    TemporaryFolder.delete(folder);
  }

  private void awaitConnection() throws IOException {
    for (int waited = 0; waited < TIMEOUT_MILLIS; waited += POLL_MILLIS) {
      try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port.number())) {
        return;
      } catch (IOException _) {
        if (waitFor(POLL_MILLIS)) {
          throw new IOException("PgBouncer ended at once:\n" + log());
        }
      }
    }
    throw new IOException("PgBouncer accepts no connection:\n" + log());
  }

  private boolean waitFor(int millis) {
    try {
      return process.waitFor(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
