package io.throttlekit.descriptors.source;

/**
 * Text of one policy file.
 *
 * @param name the file's name in problems
 * @param text YAML; a byte that is not UTF-8 stands as a lone surrogate from U+DC80, so that the
 *     loader can report its place
 */
public record PolicySource(String name, String text) {}
