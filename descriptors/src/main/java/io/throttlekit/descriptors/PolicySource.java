package io.throttlekit.descriptors;

/**
 * The text of one policy file.
 *
 * @param name what problems call the file
 * @param text YAML; a byte that is not UTF-8 stands as a lone surrogate from U+DC80, so that the
 *     loader can say where it is
 */
public record PolicySource(String name, String text) {}
