package io.fibry.durable.kind;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.durable.Durable;
import io.fibry.durable.EventSourcedContext;
import io.fibry.durable.ParkedMessage;
import io.fibry.durable.storage.Mail;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.durable.turn.DurableActorFactory;
import io.fibry.pool.Entities;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;

/**
 * The complete definition of a kind of actors.
 *
 * @param stateFactory makes the initial state of a key
 * @param stateCodec the codec of the state; empty if events are stored, without snapshots
 * @param eventCodec the codec of events; empty if the state itself is stored
 * @param applyEvent returns the state after an event
 */
public record DurableDefinition<S, E, M>(DefaultDurableBuilder<M> kind, Callable<? extends S> stateFactory,
    Optional<Codec<S>> stateCodec,
    Optional<Codec<E>> eventCodec, BiFunction<S, E, S> applyEvent, TurnHandler<S, E, M> handler) implements Durable<M> {

  /** Calls the user's handler for one turn, and returns the next state. */
  public interface TurnHandler<S, E, M> {
    S runTurn(S state, M message, StateContext<S, E, M> context) throws Exception;
  }

  /** The context of a handler, with the state after the events of the turn so far. */
  public interface StateContext<S, E, M> extends EventSourcedContext<S, E, M> {
    S state();
  }

  public DurableDefinition {
    if (kind.maxStoredMessages() > 0) kind.messages().requireCodec();
    IdempotentAnswers.check(kind.messages().type(), kind.messages().answerCodecs().keySet());
  }

  /** Returns the initial state of an actor. */
  public S newState(Store.ActorId actor) throws Exception {
    return Objects.requireNonNull(stateFactory.call(), () -> "the initial state of " + actor + " is null");
  }

  /** Returns the codec of stored data, or throws if the kind no longer has a codec for it. */
  public <T> Codec<T> requireCodec(Optional<Codec<T>> codec, String content) {
    return codec.orElseThrow(() -> new CodecException("the turn has " + content + ", but " + this
        + " has no codec for " + content + " any more; give the kind this codec again, or rename the kind"));
  }

  /** Returns the state after an event of a turn. */
  public S applyEvent(S state, E event, long turn, Store.ActorId actor) {
    S next;
    try {
      next = applyEvent.apply(state, event);
    } catch (RuntimeException failure) {
      throw new IllegalStateException(missingStateText(event, turn, actor) + "threw " + Lines.thrown(failure),
          failure);
    }
    return Objects.requireNonNull(next, () -> missingStateText(event, turn, actor) + "returned null");
  }

  private String missingStateText(E event, long turn, Store.ActorId actor) {
    return "turn " + turn + " of " + actor + " has no state after its event of " + event.getClass().getName()
        + ": the kind's event function, which must never fail, ";
  }

  @Override
  public Actor<M> newActor(ActorBuilder<? super M> builder, Store store) {
    return new DurableActorFactory<>(this, StoreBackend.of(store)).newActor(builder);
  }

  @Override
  public Entities<String, M> entities(ActorBuilder<? super M> builder, Store store, Duration idle) {
    return new DurableActorFactory<>(this, StoreBackend.of(store)).entities(builder, idle, key -> true);
  }

  @Override
  public List<ParkedMessage<M>> parked(Store store) {
    var backend = StoreBackend.of(store);
    var actors = new LinkedHashSet<Store.ActorId>();
    backend.forEachPending(kind.name(), (id, due) -> {
      if (due.equals(StoreBackend.PendingMessage.NEVER)) actors.add(id);
    });
    return actors.stream()
        .flatMap(id -> backend.pending(id, StoreBackend.PendingMessage.NEVER, Integer.MAX_VALUE).stream())
        .filter(Mail::isParked).map(this::parked).toList();
  }

  private ParkedMessage<M> parked(StoreBackend.PendingMessage pending) {
    var mail = Mail.read(pending.body());
    var failure = mail.failed().orElseThrow();
    return new ParkedMessage<>(pending.to().key(), pending.id(), kind.messages().requireCodec().decode(mail.message()),
        failure.reason(),
        failure.at());
  }

  @Override
  public void retry(Store store, ParkedMessage<M> parked) {
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), Mail::asRetried);
  }

  @Override
  public void discard(Store store, ParkedMessage<M> parked) {
    // the message becomes due with its stored failure, and its actor deletes such messages
    StoreRegistry.of(store).unpark(store, idOf(parked), parked.id(), mail -> mail);
  }

  private Store.ActorId idOf(ParkedMessage<M> parked) {
    return kind.id(kind.checkedKey(Objects.requireNonNull(parked, "parked").key()));
  }

  @Override
  public String toString() {
    return "kind '" + kind.name() + "'";
  }
}
