/**
 * Loaded actors and their turns. {@link io.fibry.durable.turn.DurableRuntime} is the loaded state
 * of an actor, {@link io.fibry.durable.turn.TurnContext} collects the effects of one message, and
 * {@link io.fibry.durable.turn.TurnPipeline} gives the turns to the store. Not exported.
 */
package io.fibry.durable.turn;
