package io.throttlekit.rate;

import io.throttlekit.Decision;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one charge: what the counter holds from now on, and what to answer.
 *
 * @param state the state to keep; the very state that was given when nothing changed
 * @param decision the answer
 */
public record Transition<S>(@Nullable S state, Decision decision) {}
