/**
 * Types for authors of blocks, stores, transports and metrics:
 * {@link io.fibry.spi.BlockBuilder} returns the settings of a builder, and makes the actors of a
 * block. {@link io.fibry.spi.MessageTimer} measures messages, and {@link io.fibry.spi.ActorTotals}
 * sums counts of actors. Programs that only use actors do not need this package.
 */
package io.fibry.spi;
