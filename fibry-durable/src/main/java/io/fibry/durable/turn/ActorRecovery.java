package io.fibry.durable.turn;

import io.fibry.codec.CodecException;
import io.fibry.durable.kind.DurableDefinition;
import io.fibry.durable.storage.Body;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Computes the state and the notes of an actor from its stored turns. If the snapshot before the
 * stored events cannot be decoded, for example after a change of the state's class, older events
 * are read instead. The unknown fields of such a snapshot count as unknown fields of the actor, so
 * that this code does not replace the snapshot. Used by the actor's thread.
 */
final class ActorRecovery<S, E> {
  private final DurableDefinition<S, E, ?> definition;
  private final Store.ActorId id;
  private final ActorNotes actorNotes;
  private S state;
  private long stateSize; // bytes of the last stored state
  private long readBytes; // bytes of all bodies that were read
  private int bodyCount; // bodies that were read
  // Each has the name of a field that only newer code knows; empty if there is none.
  private String unknownInState = ""; // in the state or an event
  private String unknownInNotes = "";
  private boolean isSnapshotUnreadable; // set while a snapshot is decoded, and stays set if that fails

  private ActorRecovery(DurableDefinition<S, E, ?> definition, Store.ActorId id, ActorNotes actorNotes)
      throws Exception {
    this.definition = definition;
    this.id = id;
    this.actorNotes = actorNotes;
    this.state = definition.newState(id);
  }

  static <S, E> ActorRecovery<S, E> of(DurableDefinition<S, E, ?> definition, StoreBackend store, Store.ActorId id,
      StoreBackend.LoadedActor loaded,
      Supplier<ActorNotes> newNotes) throws Exception {
    var bodies = loaded.bodies();
    var recovery = new ActorRecovery<>(definition, id, newNotes.get());
    try {
      recovery.addAll(bodies, loaded.lastTurn());
      return recovery;
    } catch (CodecException unreadable) {
      if (!recovery.isSnapshotUnreadable) throw unreadable;
      var eventRecovery = new ActorRecovery<>(definition, id, newNotes.get());
      long snapshotTurn = loaded.lastTurn() - bodies.size() + 1;
      var allBodies = new ArrayList<>(eventRecovery.readTurns(snapshotTurn, store, unreadable));
      allBodies.addAll(bodies.subList(1, bodies.size()));
      eventRecovery.addAll(allBodies, loaded.lastTurn(), unreadable);
      eventRecovery.addUnknownFields(recovery);
      StoreRegistry.of(store).failureLog().logUnreadableSnapshot(id, unreadable, eventRecovery.unknownFields().field());
      return eventRecovery;
    }
  }

  /**
   * Returns the bodies of the turns up to {@code lastTurn}, beginning with the last full-state
   * turn.
   */
  private List<byte[]> readTurns(long lastTurn, StoreBackend store, CodecException unreadable) {
    var storedTurns = store.turns(id).stream().filter(turn -> turn.number() <= lastTurn).toList();
    long lastFullState =
        storedTurns.stream().filter(StoreBackend.StoredTurn::isFullState).mapToLong(StoreBackend.StoredTurn::number)
            .max().orElse(0);
    if (lastFullState == lastTurn) throw unreadable; // the unreadable body is a turn, not a snapshot
    long firstTurn = Math.max(1, lastFullState);
    var bodies = new TreeMap<Long, byte[]>(); // by number, because a store may return a turn twice
    for (var turn : storedTurns) if (turn.number() >= firstTurn) bodies.put(turn.number(), turn.body());
    for (long number = firstTurn; number <= lastTurn; number++) if (!bodies.containsKey(number))
      throw unrecoverableFailure("turn " + number + " is not stored any more", unreadable);
    return List.copyOf(bodies.values());
  }

  private static CodecException unrecoverableFailure(String reason, CodecException unreadable) {
    return new CodecException(Lines.message(unreadable) + "; nor can its state be computed from its events, because "
        + reason + ". Give events(..) a codec of the state that reads the old form, by evolution.readOld(..)",
        unreadable);
  }

  private void addAll(List<byte[]> bodies, long lastTurn, CodecException unreadable) {
    try {
      addAll(bodies, lastTurn);
    } catch (CodecException unreadableEvent) {
      throw unrecoverableFailure(Lines.message(unreadableEvent), unreadable);
    }
  }

  private void addAll(List<byte[]> bodies, long lastTurn) {
    long turn = lastTurn - bodies.size();
    for (var body : bodies) add(body, ++turn);
  }

  private void add(byte[] bytes, long turn) {
    try {
      var body = Body.of(bytes, field -> unknownInNotes = field);
      if (body.state().isPresent()) readState(body.state().get());
      for (var encoded : body.events()) {
        var event =
            definition.requireCodec(definition.eventCodec(), "events").decode(encoded, field -> unknownInState = field);
        state = definition.applyEvent(state, event, turn, id);
      }
      actorNotes.addAll(body.notes());
      readBytes += bytes.length;
      bodyCount++;
    } catch (CodecException failure) {
      throw new CodecException("turn " + turn + " of " + id + " cannot be read: " + Lines.message(failure), failure);
    }
  }

  private void readState(byte[] bytes) {
    isSnapshotUnreadable = bodyCount == 0 && definition.eventCodec().isPresent();
    unknownInState = "";
    state = definition.requireCodec(definition.stateCodec(), "a state").decode(bytes, field -> unknownInState = field);
    stateSize = bytes.length;
    isSnapshotUnreadable = false;
  }

  private void addUnknownFields(ActorRecovery<S, E> unreadable) {
    if (unknownInState.isEmpty()) unknownInState = unreadable.unknownInState;
    if (unknownInNotes.isEmpty()) unknownInNotes = unreadable.unknownInNotes;
  }

  // ---- the result

  ActorNotes actorNotes() {
    return actorNotes;
  }

  S state() {
    return state;
  }

  long stateSize() {
    return stateSize;
  }

  long readBytes() {
    return readBytes;
  }

  int bodyCount() {
    return bodyCount;
  }

  UnknownFields unknownFields() {
    return unknownInState.isEmpty() && unknownInNotes.isEmpty() ? UnknownFields.NONE
        : new UnknownFields(unknownInState, unknownInNotes);
  }
}
