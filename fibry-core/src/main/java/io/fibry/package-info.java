/**
 * Actors: {@link io.fibry.ActorSystem} makes them, {@link io.fibry.Actor} sends messages to an
 * actor, and {@link io.fibry.ActorScope} ends several actors together.
 */
package io.fibry;
