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
record Following<E>(String kind, Codec<E> events, Optional<String> name, Handler<EventView.EndedActor> ends)
    implements EventView<E> {
  static <E> EventView<E> of(String kind, Codec<E> events) {
    return new Following<>(Names.plain("kind", kind), events, Optional.empty(), end -> {});
  }

  @Override
  public EventView<E> named(String view) {
    return new Following<>(kind, events, Optional.of(Names.plain("view", view)), ends);
  }

  @Override
  public EventView<E> onEnd(Handler<EndedActor> handler) {
    return new Following<>(kind, events, name, Objects.requireNonNull(handler, "handler"));
  }

  @Override
  public void forget(Store store) {
    Objects.requireNonNull(store, "store");
    Views.forget(store, id().orElseThrow(
        () -> new IllegalStateException(this + " has no name that a store could forget; call as(name) first")));
  }

  private Optional<Store.ActorId> id() {
    return name.map(view -> new ViewOffset(kind, view, "").actor());
  }

  @Override
  public Exitable newActor(ActorBuilder<?> how, Store store, Handler<StoredEvent<E>> handler) {
    Objects.requireNonNull(how, "how");
    Home.checkWhole(store);
    Objects.requireNonNull(handler, "handler");
    var id = id();
    return id.isEmpty() ? begin(how, store, id, handler)
        : Home.only(store, id.get(), () -> begin(how, store, id, handler));
  }

  @SuppressWarnings("unchecked") // its messages are given here only
  private Actor<FollowReader.Told> begin(ActorBuilder<?> how, Store store, Optional<Store.ActorId> id,
      Handler<StoredEvent<E>> handler) {
    if (BlockBuilder.of(how).isPooled())
      throw new IllegalArgumentException(this + " gives one event after the other; a pool has no order");
    var actor = ((ActorBuilder<FollowReader.Told>) how)
        .newActor((FollowReader.Told told, ActorContext<FollowReader.Told> context) -> {
          told.handling().run();
          context.reply(told, Done.DONE);
        });
    boolean begun = false;
    try {
      actor.closeOnExit(FollowReader.start(this, handler, store, id, BlockBuilder.of(how).scheduler(), actor));
      begun = true;
      return actor;
    } finally {
      if (!begun) actor.kill();
    }
  }

  /** The events of a turn, and the end of its actor if the turn is a whole one. */
  List<FollowReader.Told> told(Store.StoredTurn turn, Handler<StoredEvent<E>> handler) {
    try {
      var body = Body.of(turn.body());
      if (body.state().isPresent()) throw new KeepsStateException("kind '" + kind
          + "' keeps its state, not events; only events can be followed");
      var all = new ArrayList<FollowReader.Told>();
      for (var bytes : body.events()) all.add(told(turn, bytes, handler));
      for (var bytes : body.last()) all.add(told(turn, bytes, handler));
      var ended = new EndedActor(turn.key(), turn.number(), turn.at());
      if (turn.isFullState()) all.add(new FollowReader.Told(ended, () -> ends.handle(ended)));
      return all;
    } catch (CodecException unknown) {
      throw new CodecException("turn " + turn.number() + " of " + new Store.ActorId(kind, turn.key())
          + " cannot be followed: " + Lines.message(unknown), unknown);
    }
  }

  private FollowReader.Told told(Store.StoredTurn turn, byte[] event, Handler<StoredEvent<E>> handler) {
    var fact = new StoredEvent<>(turn.key(), turn.number(), turn.at(), events.decode(event));
    return new FollowReader.Told(fact, () -> handler.handle(fact));
  }

  /** The turns of a kind can never be followed, so its store need keep nothing for this view. */
  static final class KeepsStateException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private KeepsStateException(String message) {
      super(message);
    }
  }

  @Override
  public String toString() {
    return name.map(view -> "view '" + view + "'").orElse("a view") + " of kind '" + kind + "'";
  }
}
