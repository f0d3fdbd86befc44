/**
 * Actors and what they promise. Start at {@link io.fibry.ActorSystem}, which makes actors. After
 * that, {@link io.fibry.Actor} explains how to use them, and {@link io.fibry.ActorScope} how to end
 * them together.
 */
package io.fibry;
