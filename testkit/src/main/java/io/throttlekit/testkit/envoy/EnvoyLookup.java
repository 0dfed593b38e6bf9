package io.throttlekit.testkit.envoy;

import java.nio.file.Path;

/** What came of looking for an Envoy on this machine. */
public sealed interface EnvoyLookup {

  /**
   * An Envoy that answered {@code --version}.
   *
   * @param program the executable file
   * @param version for example {@code 1.40.0}
   */
  record Found(Path program, String version) implements EnvoyLookup {}

  /**
   * No Envoy can be had here.
   *
   * @param reason one line for people
   */
  record Unavailable(String reason) implements EnvoyLookup {}

  /**
   * {@code ENVOY_BIN} names something that does not run here as Envoy: a mistake to repair, never
   * one to work around.
   *
   * @param reason one line for people, which says what to do
   */
  record Unusable(String reason) implements EnvoyLookup {}
}
