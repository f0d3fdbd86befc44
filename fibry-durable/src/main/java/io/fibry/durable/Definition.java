package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.codec.Codec;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/**
 * A kind of actor, all told.
 *
 * @param initial makes the state of a key
 * @param state its codec; empty: events are kept, and no snapshots
 * @param events their codec; empty: the state itself is kept
 * @param after the state after an event
 */
record Definition<S, E, M>(Kinds<M> kind, Callable<? extends S> initial, Optional<Codec<S>> state,
    Optional<Codec<E>> events, BiFunction<S, E, S> after, Run<S, E, M> run) implements Durable<M> {
  private static final int LONGEST_KEY = 512;

  /** Lets the handler do a turn, and answers the next state. */
  interface Run<S, E, M> {
    S handle(S state, M message, Turn<S, E, M> turn) throws Exception;
  }

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> how, Store store) {
    check(how, store);
    return newActor(how, store, how.forBlocks().name()
        .orElseThrow(() -> refused("it needs a key: take a builder with a name, such as ActorSystem.named(..)")));
  }

  @Override
  public Entities<String, M> entities(ActorBuilder<? super M> how, Store store, Duration idle) {
    check(how, store);
    return entitiesOf(how, store, idle);
  }

  private <B> Entities<String, M> entitiesOf(ActorBuilder<B> how, Store store, Duration idle) {
    return Entities.of(how, idle, (builder, key) -> newActor(builder, store, key));
  }

  private void check(ActorBuilder<?> how, Store store) {
    Objects.requireNonNull(store, "store");
    if (how.forBlocks().isShared()) throw refused("a pool handles several messages at a time; make entities");
    if (how.forBlocks().mailbox().isSelective())
      throw refused("what it does with one message is a turn, so its mailbox cannot be selective");
  }

  private IllegalArgumentException refused(String why) {
    return new IllegalArgumentException("an actor of " + this + " cannot be made like this: " + why);
  }

  @SuppressWarnings("unchecked") // a builder for more makes an actor for these
  private Actor<M> newActor(ActorBuilder<?> how, Store store, String key) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(key)) throw refused("its key has half of a surrogate pair");
    int length = key.getBytes(StandardCharsets.UTF_8).length;
    if (length == 0 || length > LONGEST_KEY)
      throw refused("its key takes " + length + " bytes; 1 to " + LONGEST_KEY + " are possible");
    var id = new Store.Id(kind.name(), key);
    return Serving.only(store, id,
        () -> ((ActorBuilder<M>) how).protocol(kind.messages()).initialState(() -> new Live<>(this, store, id))
            .onStop(Live::awaitStored).newActor(Live<S, E, M>::handle));
  }

  @Override
  public String toString() {
    return "kind '" + kind.name() + "'";
  }
}
