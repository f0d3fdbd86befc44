/**
 * Actors and what they promise. Start at {@link io.fibry.ActorSystem}, which makes actors. Then
 * read {@link io.fibry.Actor} for using them, and {@link io.fibry.ActorScope} for ending them
 * together.
 */
package io.fibry;
