package io.throttlekit.testkit.postgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The data of a new server, made once: initdb takes longer than the start itself. */
final class NewServer {
  private NewServer() {}

  private static final class Once {
    static final Path DATA = find();

    private static Path find() {
      Path initdb = PostgresProgram.path("initdb");
      String image = PostgresProgram.image();
      String from = image != null ? image : initdb.toAbsolutePath().toString();
      String name = "data-" + Integer.toHexString(from.hashCode());
      try {
        return MadeOnce.folder(name, folder -> initialize(initdb, folder)).resolve("data");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Returns the folder, for copies only. */
  static Path data() {
    return Once.DATA;
  }

  private static void initialize(Path initdb, Path folder) throws IOException {
    List<String> command =
        List.of(
            initdb.toString(),
            "-D",
            folder.resolve("data").toString(),
            "-U",
            PostgresProcess.SUPERUSER,
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync");
    Path log = folder.resolve("log");
    try {
      if (PostgresProcess.started(command, log).waitFor() != 0) {
        throw new IOException("initdb failed:\n" + Files.readString(log));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
