@NullMarked
package io.throttlekit.service.config.load;

import org.jspecify.annotations.NullMarked;
