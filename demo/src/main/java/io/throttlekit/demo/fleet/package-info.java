/**
 * Several replicas of the service that share a store, behind several Envoys: load, faults, and what
 * is counted meanwhile.
 */
@NullMarked
package io.throttlekit.demo.fleet;

import org.jspecify.annotations.NullMarked;
