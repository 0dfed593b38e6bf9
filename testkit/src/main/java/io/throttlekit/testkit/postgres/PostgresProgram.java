package io.throttlekit.testkit.postgres;

import io.throttlekit.testkit.image.NamedImage;
import io.throttlekit.testkit.required.ExternalProgram;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The PostgreSQL of the tests, located once in each JVM, unpacked once in each build: that of the
 * image {@code -Dpostgres.image}, else the folder {@code POSTGRES_BIN}, else the one that comes
 * with the build for this platform ({@code -Dpostgresql-binaries.version=…} selects another), else
 * {@code postgres} on the {@code PATH}.
 */
public final class PostgresProgram implements ExternalProgram {

  private static final class Once {
    static final @Nullable String IMAGE = NamedImage.of("postgres.image");
    static final Lookup LOOKUP = IMAGE == null ? look() : new Lookup(Path.of(""), "");
  }

  private record Lookup(@Nullable Path folder, String reason) {}

  @Override
  public String name() {
    return "PostgreSQL";
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if {@code POSTGRES_BIN} is set and invalid: to be fixed, not
   *     skipped
   */
  @Override
  public @Nullable String whyMissing() {
    return Once.LOOKUP.folder() == null ? Once.LOOKUP.reason() : null;
  }

  /** Returns one of its programs; only for tests that are annotated with {@link RealPostgres}. */
  public static Path path(String program) {
    Path folder = Once.LOOKUP.folder();
    if (folder == null) {
      throw new IllegalStateException(Once.LOOKUP.reason());
    }
    return folder.resolve(program);
  }

  /** Returns the image that has the programs; null for those of this machine. */
  static @Nullable String image() {
    return Once.IMAGE;
  }

  private static Lookup look() {
    String named = System.getenv("POSTGRES_BIN");
    if (named != null && !named.isBlank()) {
      Path folder = Path.of(named).toAbsolutePath();
      if (!isInstalledIn(folder)) {
        throw new IllegalStateException("POSTGRES_BIN=" + named + " has no postgres and initdb");
      }
      return new Lookup(folder, "");
    }
    String archive = archive();
    URL packed = PostgresProgram.class.getResource(archive);
    try {
      if (packed != null) { // its address includes the version
        String name = "program-" + Integer.toHexString(packed.toString().hashCode());
        return new Lookup(MadeOnce.folder(name, to -> unpack(packed, to)).resolve("bin"), "");
      }
    } catch (IOException e) {
      return new Lookup(null, "the PostgreSQL of the build cannot be unpacked: " + e);
    }
    String path = System.getenv().getOrDefault("PATH", "");
    for (String each : Pattern.compile(File.pathSeparator).split(path, -1)) {
      if (!each.isEmpty() && isInstalledIn(Path.of(each))) {
        return new Lookup(Path.of(each), "");
      }
    }
    return new Lookup(null, "no postgres on the PATH, and no " + archive + " in the build");
  }

  private static boolean isInstalledIn(Path folder) {
    return Files.isExecutable(folder.resolve("postgres"))
        && Files.isExecutable(folder.resolve("initdb"));
  }

  private static String archive() {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    return "/postgres-%s-%s.txz"
        .formatted(
            system.startsWith("mac") ? "darwin" : system,
            machine.equals("amd64") ? "x86_64" : machine.equals("aarch64") ? "arm_64" : machine);
  }

  private static void unpack(URL packed, Path folder) throws IOException {
    try (InputStream archive = packed.openStream();
        TarArchiveInputStream files =
            new TarArchiveInputStream(new XZCompressorInputStream(archive))) {
      for (TarArchiveEntry file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
        Path target = folder.resolve(file.getName()).normalize();
        if (!target.startsWith(folder)) {
          throw new IOException(file.getName() + " is outside");
        }
        if (file.isDirectory()) {
          Files.createDirectories(target);
          continue;
        }
        Files.createDirectories(target.getParent());
        if (file.isSymbolicLink()) {
          Files.createSymbolicLink(target, Path.of(file.getLinkName()));
        } else {
          Files.copy(files, target);
          if ((file.getMode() & 0100) != 0) {
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rwxr-xr-x"));
          }
        }
      }
    }
  }
}
