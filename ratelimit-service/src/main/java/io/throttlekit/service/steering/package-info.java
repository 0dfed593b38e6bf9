/** What access logs and load reports say of a cluster becomes the ceiling that Envoys keep to. */
@NullMarked
package io.throttlekit.service.steering;

import org.jspecify.annotations.NullMarked;
