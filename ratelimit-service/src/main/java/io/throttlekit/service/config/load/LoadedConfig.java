package io.throttlekit.service.config.load;

import io.throttlekit.service.config.ServiceConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Result of loading the file, the environment and the command line.
 *
 * @param config the effective configuration; null exactly when there are errors
 * @param errors every mistake, each with its place
 * @param warnings settings without effect
 * @param skipped which variables were skipped that are like settings; empty for none
 * @param defaults which defaults apply, and why
 * @param yaml every effective setting and its origin, without secrets
 */
public record LoadedConfig(
    @Nullable ServiceConfig config,
    List<String> errors,
    List<String> warnings,
    String skipped,
    String defaults,
    String yaml) {}
