/** JMH benchmarks of the parts of one decision. */
@NullMarked
package io.throttlekit.bench.micro;

import org.jspecify.annotations.NullMarked;
