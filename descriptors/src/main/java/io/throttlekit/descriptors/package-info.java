/** The policy language: YAML files, the immutable policy book made of them, matching and advice. */
@NullMarked
package io.throttlekit.descriptors;

import org.jspecify.annotations.NullMarked;
