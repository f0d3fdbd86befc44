package io.fibry.flow;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * What a batch is made of: an empty one, how a message is added (where that throws, nothing has
 * changed), and what the handler is given. Immutable.
 */
record BatchKind<M, B>(Supplier<B> empty, BiConsumer<B, M> add, UnaryOperator<B> sealed) {}
