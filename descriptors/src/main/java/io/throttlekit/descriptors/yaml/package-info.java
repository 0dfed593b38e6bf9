/** Policies as trees of YAML nodes that know their places. */
@NullMarked
package io.throttlekit.descriptors.yaml;

import org.jspecify.annotations.NullMarked;
