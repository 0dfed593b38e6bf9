@NullMarked
package io.throttlekit.descriptors.yaml;

import org.jspecify.annotations.NullMarked;
