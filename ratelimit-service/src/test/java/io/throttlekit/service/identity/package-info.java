@NullMarked
package io.throttlekit.service.identity;

import org.jspecify.annotations.NullMarked;
