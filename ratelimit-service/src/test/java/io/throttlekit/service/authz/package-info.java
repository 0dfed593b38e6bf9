/** External authorization in process, without a network. */
@NullMarked
package io.throttlekit.service.authz;

import org.jspecify.annotations.NullMarked;
