package io.throttlekit.descriptors;

/**
 * Advice about a policy that works, but hardly as meant.
 *
 * @param hint what to do, or empty
 */
record Finding(SourceLocation location, String message, String hint) {}
