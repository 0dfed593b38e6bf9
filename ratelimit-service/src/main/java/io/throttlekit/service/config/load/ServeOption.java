package io.throttlekit.service.config.load;

import java.util.List;

/**
 * Option of {@code serve}.
 *
 * @param name with its two hyphens
 * @param setting path of the setting that it overrides; empty for the configuration file
 * @param label of its value in the help
 * @param help lines of its help
 * @param repeatable whether it may be given several times
 */
public record ServeOption(
    String name, String setting, String label, List<String> help, boolean repeatable) {}
