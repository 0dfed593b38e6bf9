/** Programs of container images, run by Testcontainers in place of local ones. */
@NullMarked
package io.throttlekit.testkit.image;

import org.jspecify.annotations.NullMarked;
