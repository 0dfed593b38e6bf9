package io.throttlekit.testkit.redis;

import io.throttlekit.testkit.image.NamedImage;
import io.throttlekit.testkit.required.ExternalProgram;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;

/**
 * The Redis of the tests, located once in each JVM: that of the image {@code -Dredis.image}, else
 * {@code REDIS_BIN}, else {@code redis-server} on the {@code PATH}, else the one that comes with
 * the build for this platform.
 */
public final class RedisProgram implements ExternalProgram {

  private static final class Once {
    static final @Nullable String IMAGE = NamedImage.of("redis.image");
    static final Lookup LOOKUP = IMAGE == null ? look() : ofImage(IMAGE);
  }

  private record Lookup(@Nullable Path program, String reason) {}

  @Override
  public String name() {
    return "Redis";
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if {@code REDIS_BIN} is set and invalid: to be fixed, not skipped
   */
  @Override
  public @Nullable String whyMissing() {
    return Once.LOOKUP.program() == null ? Once.LOOKUP.reason() : null;
  }

  /** Returns the executable; only for tests that are annotated with {@link RealRedis}. */
  public static Path path() {
    Path program = Once.LOOKUP.program();
    if (program == null) {
      throw new IllegalStateException(Once.LOOKUP.reason());
    }
    return program;
  }

  /** Returns the image that has the executable; null for a program of this machine. */
  static @Nullable String image() {
    return Once.IMAGE;
  }

  private static Lookup ofImage(String image) {
    return new Lookup(Path.of(image.contains("valkey") ? "valkey-server" : "redis-server"), "");
  }

  private static Lookup look() {
    String named = System.getenv("REDIS_BIN");
    if (named != null && !named.isBlank()) {
      Path program = Path.of(named).toAbsolutePath();
      if (!Files.isExecutable(program)) {
        throw new IllegalStateException("REDIS_BIN=" + named + " is no program");
      }
      return new Lookup(program, "");
    }
    String path = System.getenv().getOrDefault("PATH", "");
    for (String folder : Pattern.compile(File.pathSeparator).split(path, -1)) {
      Path program = Path.of(folder, "redis-server");
      if (!folder.isEmpty() && Files.isExecutable(program)) {
        return new Lookup(program, "");
      }
    }
    try {
      return new Lookup(ExecutableProvider.newJarResourceProvider().get().toPath(), "");
    } catch (IOException | RuntimeException e) {
      return new Lookup(
          null, "no redis-server on the PATH, and none for this platform in the build: " + e);
    }
  }
}
