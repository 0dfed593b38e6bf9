/**
 * Envoy's rate limit protocol: converts its messages to requests for admission, and answers back.
 */
@NullMarked
package io.throttlekit.service.rls;

import org.jspecify.annotations.NullMarked;
