/** Asks Envoys for reports of their load, and reads them: LRS v3. */
@NullMarked
package io.throttlekit.service.load;

import org.jspecify.annotations.NullMarked;
