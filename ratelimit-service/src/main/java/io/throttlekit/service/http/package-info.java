/** What the service answers over plain HTTP: decisions as JSON, health, metrics, diagnosis. */
@NullMarked
package io.throttlekit.service.http;

import org.jspecify.annotations.NullMarked;
