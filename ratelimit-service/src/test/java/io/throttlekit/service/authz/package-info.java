/** External authorization in process, without a wire. */
@NullMarked
package io.throttlekit.service.authz;

import org.jspecify.annotations.NullMarked;
