package io.throttlekit.descriptors;

/**
 * Advice about a policy that is valid, but probably not as intended.
 *
 * @param hint what to do, or empty
 */
record Finding(SourceLocation location, String message, String hint) {}
