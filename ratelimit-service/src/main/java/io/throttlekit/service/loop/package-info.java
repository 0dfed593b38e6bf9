/**
 * Event loops that know since when what they read may have waited, and bounds on their connections.
 */
@NullMarked
package io.throttlekit.service.loop;

import org.jspecify.annotations.NullMarked;
