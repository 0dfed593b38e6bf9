/** Load reports of Envoys: the load reporting service (LRS) v3. */
@NullMarked
package io.throttlekit.service.load;

import org.jspecify.annotations.NullMarked;
