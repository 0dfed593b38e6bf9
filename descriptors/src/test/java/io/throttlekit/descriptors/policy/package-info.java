@NullMarked
package io.throttlekit.descriptors.policy;

import org.jspecify.annotations.NullMarked;
