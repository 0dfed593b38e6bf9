/** Sources of policies as trees of YAML nodes, places in them, and the problems found there. */
@NullMarked
package io.throttlekit.descriptors.source;

import org.jspecify.annotations.NullMarked;
