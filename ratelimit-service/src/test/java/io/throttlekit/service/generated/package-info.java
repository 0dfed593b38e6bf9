/** The service on generated policies and messages, beside a model that is obviously right. */
@NullMarked
package io.throttlekit.service.generated;

import org.jspecify.annotations.NullMarked;
