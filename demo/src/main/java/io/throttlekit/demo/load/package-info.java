/** An upstream with workers, and clients that send to it through Envoys. */
@NullMarked
package io.throttlekit.demo.load;

import org.jspecify.annotations.NullMarked;
