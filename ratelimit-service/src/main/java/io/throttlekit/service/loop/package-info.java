/** Event loops that know since when what they read may have waited; the bound on connections. */
@NullMarked
package io.throttlekit.service.loop;

import org.jspecify.annotations.NullMarked;
