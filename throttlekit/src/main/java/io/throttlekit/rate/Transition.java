package io.throttlekit.rate;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a charge: the new state and the decision.
 *
 * @param state state to keep; the same object as before if nothing changed
 * @param decision response to the charge
 */
public record Transition<S>(@Nullable S state, Decision decision) {}
