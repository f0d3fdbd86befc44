package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.Done;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** What is followed. */
record Following<E>(String kind, Codec<E> events, Optional<String> name) implements Follow<E> {
  @Override
  public Follow<E> as(String view) {
    return new Following<>(kind, events, Optional.of(Names.plain("view", view)));
  }

  @Override
  public Exitable newActor(ActorBuilder<?> how, Store store, Handler<Fact<E>> handler) {
    Objects.requireNonNull(how, "how");
    Home.checkWhole(store);
    Objects.requireNonNull(handler, "handler");
    var id = name.map(view -> new Store.Id(Store.VIEWS, kind + ":" + view));
    return id.isEmpty() ? begin(how, store, id, handler)
        : Home.only(store, id.get(), () -> begin(how, store, id, handler));
  }

  @SuppressWarnings("unchecked") // its messages are given here only
  private Actor<FollowReader.Told<E>> begin(ActorBuilder<?> how, Store store, Optional<Store.Id> id,
      Handler<Fact<E>> handler) {
    if (how.forBlocks().isShared())
      throw new IllegalArgumentException(this + " gives one event after the other; a pool has no order");
    var actor = ((ActorBuilder<FollowReader.Told<E>>) how)
        .newActor((FollowReader.Told<E> told, ActorContext<FollowReader.Told<E>> context) -> {
          handler.handle(told.fact());
          context.reply(told, Done.DONE);
        });
    boolean begun = false;
    try {
      actor.closeOnExit(FollowReader.start(this, store, id, how.forBlocks().scheduler(), actor));
      begun = true;
      return actor;
    } finally {
      if (!begun) actor.kill();
    }
  }

  List<Fact<E>> facts(Store.Past turn) {
    try {
      var body = Body.of(turn.body());
      if (body.state().isPresent())
        throw new IllegalStateException("kind '" + kind + "' keeps its state, not events; only events can be followed");
      return body.events().stream()
          .map(event -> new Fact<>(turn.key(), turn.number(), turn.at(), events.decode(event))).toList();
    } catch (CodecException unknown) {
      throw new CodecException("turn " + turn.number() + " of " + new Store.Id(kind, turn.key())
          + " cannot be followed: " + Lines.message(unknown), unknown);
    }
  }

  @Override
  public String toString() {
    return name.map(view -> "view '" + view + "'").orElse("a view") + " of kind '" + kind + "'";
  }
}
