/**
 * Envoy's external authorization: converts Check requests to descriptors and answers to responses.
 */
@NullMarked
package io.throttlekit.service.authz;

import org.jspecify.annotations.NullMarked;
