package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.store.ViewOffset;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The kind, its events and the handlers of a view. */
record DefaultEventView<E>(String kind, Codec<E> events, Optional<String> name,
    Handler<EventView.EndedActor> endHandler)
    implements EventView<E> {
  static <E> EventView<E> of(String kind, Codec<E> events) {
    return new DefaultEventView<>(StoredNames.checkPlain("kind", kind), events, Optional.empty(), end -> {});
  }

  @Override
  public EventView<E> named(String view) {
    return new DefaultEventView<>(kind, events, Optional.of(StoredNames.checkPlain("view", view)), endHandler);
  }

  @Override
  public EventView<E> onEnd(Handler<EndedActor> handler) {
    return new DefaultEventView<>(kind, events, name, Objects.requireNonNull(handler, "handler"));
  }

  @Override
  public void forget(Store store) {
    Objects.requireNonNull(store, "store");
    StoredViews.forgetView(store, id().orElseThrow(
        () -> new IllegalStateException(this + " has no name that a store could forget; call as(name) first")));
  }

  private Optional<Store.ActorId> id() {
    return name.map(view -> new ViewOffset(kind, view, "").actor());
  }

  @Override
  public Exitable newActor(ActorBuilder<?> how, Store store, Handler<StoredEvent<E>> handler) {
    Objects.requireNonNull(how, "how");
    StoreRegistry.checkComplete(store);
    Objects.requireNonNull(handler, "handler");
    var id = id();
    return id.isEmpty() ? startReader(how, store, id, handler)
        : StoreRegistry.registerActor(store, id.get(), () -> startReader(how, store, id, handler));
  }

  @SuppressWarnings("unchecked") // its messages are given here only
  private Actor<EventViewReader.EventDelivery> startReader(ActorBuilder<?> how, Store store, Optional<Store.ActorId> id,
      Handler<StoredEvent<E>> handler) {
    if (BlockBuilder.of(how).isPooled())
      throw new IllegalArgumentException(this + " gives one event after the other; a pool has no order");
    var actor = ((ActorBuilder<EventViewReader.EventDelivery>) how)
        .newActor((EventViewReader.EventDelivery told, ActorContext<EventViewReader.EventDelivery> context) -> {
          told.handlerTask().run();
          context.reply(told, Done.DONE);
        });
    boolean begun = false;
    try {
      actor.closeOnExit(EventViewReader.start(this, handler, store, id, BlockBuilder.of(how).scheduler(), actor));
      begun = true;
      return actor;
    } finally {
      if (!begun) actor.kill();
    }
  }

  /** The events of a turn, and the end of its actor if the turn is a whole one. */
  List<EventViewReader.EventDelivery> deliveries(Store.StoredTurn turn, Handler<StoredEvent<E>> handler) {
    try {
      var body = Body.of(turn.body());
      if (body.state().isPresent()) throw new NoEventsException("kind '" + kind
          + "' keeps its state, not events; only events can be followed");
      var all = new ArrayList<EventViewReader.EventDelivery>();
      for (var bytes : body.events()) all.add(deliveries(turn, bytes, handler));
      for (var bytes : body.last()) all.add(deliveries(turn, bytes, handler));
      var ended = new EndedActor(turn.key(), turn.number(), turn.at());
      if (turn.isFullState()) all.add(new EventViewReader.EventDelivery(ended, () -> endHandler.handle(ended)));
      return all;
    } catch (CodecException unknown) {
      throw new CodecException("turn " + turn.number() + " of " + new Store.ActorId(kind, turn.key())
          + " cannot be followed: " + Lines.message(unknown), unknown);
    }
  }

  private EventViewReader.EventDelivery deliveries(Store.StoredTurn turn, byte[] event,
      Handler<StoredEvent<E>> handler) {
    var fact = new StoredEvent<>(turn.key(), turn.number(), turn.at(), events.decode(event));
    return new EventViewReader.EventDelivery(fact, () -> handler.handle(fact));
  }

  /** The turns of a kind can never be followed, so its store need keep nothing for this view. */
  static final class NoEventsException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private NoEventsException(String message) {
      super(message);
    }
  }

  @Override
  public String toString() {
    return name.map(view -> "view '" + view + "'").orElse("a view") + " of kind '" + kind + "'";
  }
}
