package io.fibry.flow;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Makes an empty batch, adds a message to it, and makes it unmodifiable. An {@code add} that throws
 * adds nothing.
 */
record BatchKind<M, B>(Supplier<B> newBatch, BiConsumer<B, M> add, UnaryOperator<B> seal) {}
