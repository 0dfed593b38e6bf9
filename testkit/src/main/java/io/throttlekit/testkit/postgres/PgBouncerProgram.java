package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.required.ExternalProgram;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The PgBouncer of the tests, located once in each JVM: {@code PGBOUNCER_BIN}, else {@code
 * pgbouncer} on the {@code PATH} or in a folder of programs for administrators, where packages
 * install it.
 */
public final class PgBouncerProgram implements ExternalProgram {
  private static final String MISSING =
      "no pgbouncer on the PATH: install it (apt-get install pgbouncer), or name it in"
          + " PGBOUNCER_BIN";
  private static final List<String> FOLDERS = List.of("/usr/sbin", "/usr/local/sbin");

  private static final class Once {
    static final @Nullable Path PROGRAM = look();
  }

  @Override
  public String name() {
    return "PgBouncer";
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if {@code PGBOUNCER_BIN} is set and invalid: to be fixed, not
   *     skipped
   */
  @Override
  public @Nullable String whyMissing() {
    return Once.PROGRAM == null ? MISSING : null;
  }

  /** Returns the executable; only for tests that are annotated with {@link RealPgBouncer}. */
  static Path path() {
    if (Once.PROGRAM == null) {
      throw new IllegalStateException(MISSING);
    }
    return Once.PROGRAM;
  }

  private static @Nullable Path look() {
    String named = System.getenv("PGBOUNCER_BIN");
    if (named != null && !named.isBlank()) {
      Path program = Path.of(named).toAbsolutePath();
      if (!Files.isExecutable(program)) {
        throw new IllegalStateException("PGBOUNCER_BIN=" + named + " is no program");
      }
      return program;
    }
    String path = System.getenv().getOrDefault("PATH", "");
    List<String> folders =
        new ArrayList<>(List.of(Pattern.compile(File.pathSeparator).split(path, -1)));
    folders.addAll(FOLDERS);
    return folders.stream()
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, "pgbouncer"))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }
}
