/**
 * For authors of building blocks, stores and transports: {@link io.fibry.spi.BlockBuilder} shows
 * what a builder was told, and makes the actors of a block. Programs that only use actors need
 * nothing of this package.
 */
package io.fibry.spi;
