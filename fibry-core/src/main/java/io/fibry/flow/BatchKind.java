package io.fibry.flow;

import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** How a batch begins, takes a message, and is sealed. An {@code add} that throws adds nothing. */
record BatchKind<M, B>(Supplier<B> empty, BiConsumer<B, M> add, UnaryOperator<B> seal) {}
