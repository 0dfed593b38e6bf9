package io.throttlekit.service.config;

import java.nio.file.Path;

/**
 * Folder from which envoyproxy/ratelimit reads policies.
 *
 * @param root folder or link to one
 * @param subdirectory below the root; empty for none
 * @param appDirectory below that; its name is the prefix of the names of files that count
 * @param watchRoot whether files beside that folder count when their names begin with its name
 * @param ignoreDotFiles whether names that begin with a dot are skipped
 */
public record RuntimeFolder(
    Path root,
    String subdirectory,
    String appDirectory,
    boolean watchRoot,
    boolean ignoreDotFiles) {}
