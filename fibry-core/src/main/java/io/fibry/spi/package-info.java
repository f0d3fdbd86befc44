/**
 * Types for authors of blocks, stores and transports: {@link io.fibry.spi.BlockBuilder} returns the
 * settings of a builder, and makes the actors of a block. Programs that only use actors do not need
 * this package.
 */
package io.fibry.spi;
