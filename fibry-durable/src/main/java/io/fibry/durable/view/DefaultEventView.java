package io.fibry.durable.view;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.EventView;
import io.fibry.durable.kind.CheckedCodec;
import io.fibry.durable.storage.Body;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.storage.StoredNameChecks;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A view as it is defined, without an actor. */
public record DefaultEventView<E>(String kind, Codec<E> eventCodec, Optional<String> name,
    Handler<EventView.EndedActor> endHandler)
    implements EventView<E> {
  public static <E> EventView<E> of(String kind, Codec<E> events) {
    var codec = CheckedCodec.of(events);
    return new DefaultEventView<>(StoredNameChecks.checkPlain("kind", kind), codec, Optional.empty(), end -> {});
  }

  @Override
  public EventView<E> named(String view) {
    return new DefaultEventView<>(kind, eventCodec, Optional.of(StoredNameChecks.checkPlain("view", view)), endHandler);
  }

  @Override
  public EventView<E> onEnd(Handler<EndedActor> handler) {
    return new DefaultEventView<>(kind, eventCodec, name, Objects.requireNonNull(handler, "handler"));
  }

  @Override
  public void forget(Store store) {
    StoredViews.forgetView(StoreBackend.of(store), id().orElseThrow(
        () -> new IllegalStateException(this + " has no name, so no store knows it; call named(name) first")));
  }

  private Optional<Store.ActorId> id() {
    return name.map(view -> new ViewOffset(kind, view, "").actor());
  }

  @Override
  public Exitable newActor(ActorBuilder<?> builder, Store store, Handler<StoredEvent<E>> handler) {
    Objects.requireNonNull(builder, "builder");
    var backend = StoreBackend.of(store);
    StoreRegistry.checkComplete(store);
    Objects.requireNonNull(handler, "handler");
    var id = id();
    return id.isEmpty() ? startReader(builder, backend, id, handler)
        : StoreRegistry.registerActor(store, id.get(), () -> startReader(builder, backend, id, handler));
  }

  @SuppressWarnings("unchecked") // the actor gets only the deliveries of the reader
  private Actor<EventViewReader.EventDelivery> startReader(ActorBuilder<?> builder, StoreBackend store,
      Optional<Store.ActorId> id, Handler<StoredEvent<E>> handler) {
    if (BlockBuilder.of(builder).isPooled())
      throw new IllegalArgumentException(this + " reads events in their order, which a pool cannot keep");
    var actor = ((ActorBuilder<EventViewReader.EventDelivery>) builder)
        .newActor((EventViewReader.EventDelivery event, ActorContext<EventViewReader.EventDelivery> context) -> {
          event.handling().run();
          context.reply(event, Done.DONE);
        });
    boolean isStarted = false;
    try {
      actor.closeOnExit(EventViewReader.start(this, handler, store, id, BlockBuilder.of(builder).scheduler(), actor));
      isStarted = true;
      return actor;
    } finally {
      if (!isStarted) actor.kill();
    }
  }

  /** Returns a delivery for each event of a turn, and for the actor's end if the turn erased it. */
  List<EventViewReader.EventDelivery> deliveries(StoreBackend.StoredTurn turn, Handler<StoredEvent<E>> handler) {
    try {
      var body = Body.of(turn.body());
      if (body.state().isPresent()) throw new NoEventsException("kind '" + kind
          + "' stores its state, but a view can only read events");
      var deliveries = new ArrayList<EventViewReader.EventDelivery>();
      for (var event : body.events()) deliveries.add(delivery(turn, event, handler));
      for (var event : body.last()) deliveries.add(delivery(turn, event, handler));
      var end = new EndedActor(turn.key(), turn.number(), turn.at());
      if (turn.isFullState()) deliveries.add(new EventViewReader.EventDelivery(end, () -> endHandler.handle(end)));
      return deliveries;
    } catch (CodecException unreadable) {
      throw new CodecException("turn " + turn.number() + " of " + new Store.ActorId(kind, turn.key())
          + " cannot be read: " + Lines.message(unreadable), unreadable);
    }
  }

  private EventViewReader.EventDelivery delivery(StoreBackend.StoredTurn turn, byte[] event,
      Handler<StoredEvent<E>> handler) {
    var storedEvent = new StoredEvent<>(turn.key(), turn.number(), turn.at(), eventCodec.decode(event));
    return new EventViewReader.EventDelivery(storedEvent, () -> handler.handle(storedEvent));
  }

  /** Thrown if the kind stores no events. The store then need not keep turns for this view. */
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
