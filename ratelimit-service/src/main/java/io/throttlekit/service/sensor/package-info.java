/**
 * Reports of Envoys on the requests that they sent to backends, from access logs and load reports.
 */
@NullMarked
package io.throttlekit.service.sensor;

import org.jspecify.annotations.NullMarked;
