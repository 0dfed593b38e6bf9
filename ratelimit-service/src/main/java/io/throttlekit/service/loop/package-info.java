/**
 * Event loops that record the earliest arrival of what they read, and limits for their connections.
 */
@NullMarked
package io.throttlekit.service.loop;

import org.jspecify.annotations.NullMarked;
