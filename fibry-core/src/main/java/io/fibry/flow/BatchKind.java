package io.fibry.flow;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The operations of a kind of batch: make an empty batch, add a message, and make the batch
 * unmodifiable. If {@code add} throws, it has added nothing.
 */
record BatchKind<M, B>(Supplier<B> newBatch, BiConsumer<B, M> add, UnaryOperator<B> seal) {}
