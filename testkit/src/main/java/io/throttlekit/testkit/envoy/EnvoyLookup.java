package io.throttlekit.testkit.envoy;

import java.nio.file.Path;

/** Result of looking for an Envoy on this machine. */
public sealed interface EnvoyLookup {

  /**
   * An Envoy that answered {@code --version}.
   *
   * @param program the executable file
   * @param version for example {@code 1.40.0}
   */
  record Found(Path program, String version) implements EnvoyLookup {}

  /**
   * No Envoy is available here.
   *
   * @param reason a one-line message
   */
  record Unavailable(String reason) implements EnvoyLookup {}

  /**
   * {@code ENVOY_BIN} names a file that does not run here as Envoy: an error to fix, never to work
   * around.
   *
   * @param reason a one-line message, which says what to do
   */
  record Unusable(String reason) implements EnvoyLookup {}
}
