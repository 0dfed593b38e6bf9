package io.throttlekit.testkit.envoy;

import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import io.throttlekit.testkit.required.ExternalProgram;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The Envoy that tests run, looked for once in each JVM. */
public final class EnvoyProgram implements ExternalProgram {

  private static final class Once {
    static final EnvoyLookup LOOKUP = EnvoyBinary.find(System.err::println);
  }

  @Override
  public String name() {
    return "Envoy";
  }

  /**
   * {@inheritDoc}
   *
   * @throws IllegalStateException if {@code ENVOY_BIN} is set and invalid: to be fixed, not skipped
   */
  @Override
  public @Nullable String whyMissing() {
    return switch (Once.LOOKUP) {
      case Found _ -> null;
      case Unavailable(String reason) -> reason;
      case Unusable(String reason) -> throw new IllegalStateException(reason);
    };
  }

  /** The executable; only for tests that are annotated with {@link RealEnvoy}. */
  public static Path path() {
    return found().program();
  }

  /** Its version, such as {@code 1.40.0}; only for such tests. */
  public static String version() {
    return found().version();
  }

  private static Found found() {
    return switch (Once.LOOKUP) {
      case Found found -> found;
      case Unavailable(String reason) -> throw new IllegalStateException(reason);
      case Unusable(String reason) -> throw new IllegalStateException(reason);
    };
  }
}
