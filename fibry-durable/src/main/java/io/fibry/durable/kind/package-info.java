/**
 * Definitions of kinds of actors: their builder, their settings and their codecs.
 * {@link io.fibry.durable.kind.DurableDefinition} is the complete definition. Not exported.
 */
package io.fibry.durable.kind;
