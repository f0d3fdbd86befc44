package io.fibry.opentelemetry;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.ContextKey;
import java.util.Optional;

/**
 * The mark of a context that came with a message from another node or from a store. The handling of
 * this message begins a span, and the messages that its handler sends are not marked.
 *
 * @param isPending false in the context of the handler
 * @param link the sender's span, if the message is too old to belong to the sender's trace
 */
record Arrival(boolean isPending, Optional<SpanContext> link) {
  static final ContextKey<Arrival> KEY = ContextKey.named("fibry-arrival");
  static final Arrival HANDLED = new Arrival(false, Optional.empty());
}
