/** What Envoys report of their requests: access logs and load reports. */
@NullMarked
package io.throttlekit.service.concurrency.sensors;

import org.jspecify.annotations.NullMarked;
