/** Event loops that know since when the bytes that they read may have waited. */
@NullMarked
package io.throttlekit.service.loop;

import org.jspecify.annotations.NullMarked;
