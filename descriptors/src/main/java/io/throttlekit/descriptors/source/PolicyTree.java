package io.throttlekit.descriptors.source;

/**
 * One policy as a tree of nodes.
 *
 * @param name the name of the file or other source in problems
 * @param root the policy as a file contains it, with the place of each part
 */
public record PolicyTree(String name, YamlNode root) {}
