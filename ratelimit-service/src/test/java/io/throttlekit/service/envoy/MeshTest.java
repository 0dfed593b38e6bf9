package io.throttlekit.service.envoy;

import io.throttlekit.testkit.required.Requires;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs against a real Envoy in a {@link Mesh}; skipped, with the reason, only where none can be
 * had.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Requires(MeshEnvoy.class)
@interface MeshTest {}
