package io.throttlekit.service.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the file, the environment and the command line came to.
 *
 * @param config what is in force; null exactly when there are errors
 * @param errors every mistake, each with where it is
 * @param warnings what was set and means nothing
 * @param defaults which defaults apply, and why
 * @param yaml every field in force and where it came from, without secrets
 */
public record LoadedConfig(
    @Nullable ServiceConfig config,
    List<String> errors,
    List<String> warnings,
    String defaults,
    String yaml) {}
