package io.fibry.durable;

import io.fibry.codec.CodecException;
import io.fibry.store.Store;
import io.fibry.text.Lines;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Reads an actor from its turns. If events are stored and the snapshot in front of them cannot be
 * read, for example after a change of the state's class, the events before it are read instead.
 * Used by the actor's thread.
 */
final class ActorRecovery<S, E> {
  private final DurableDefinition<S, E, ?> definition;
  private final Store.ActorId id;
  private final ActorNotes actorNotes;
  private S state;
  private long stateSize; // in bytes, when it was last stored
  private long size; // in bytes, of all that was read
  private int count; // of turns
  private String unknownInState = ""; // the name of a field that newer code has written, or empty
  private String unknownInNotes = "";
  private boolean isSnapshotUnreadable; // reading has failed there

  private ActorRecovery(DurableDefinition<S, E, ?> definition, Store.ActorId id, ActorNotes actorNotes)
      throws Exception {
    this.definition = definition;
    this.id = id;
    this.actorNotes = actorNotes;
    this.state = definition.newState(id);
  }

  static <S, E> ActorRecovery<S, E> of(DurableDefinition<S, E, ?> definition, Store store, Store.ActorId id,
      Store.LoadedActor loaded,
      Supplier<ActorNotes> actorNotes) throws Exception {
    var bodies = loaded.bodies();
    var reading = new ActorRecovery<>(definition, id, actorNotes.get());
    try {
      reading.addAll(bodies, loaded.lastTurn());
      return reading;
    } catch (CodecException unreadable) {
      if (!reading.isSnapshotUnreadable) throw unreadable;
      var again = new ActorRecovery<>(definition, id, actorNotes.get());
      long first = loaded.lastTurn() - bodies.size() + 1; // the turn of the snapshot
      var all = new ArrayList<>(again.readTurns(first, store, unreadable));
      all.addAll(bodies.subList(1, bodies.size()));
      again.addAll(all, loaded.lastTurn(), unreadable);
      StoreRegistry.of(store).failureLog().logUnreadableEvents(id, unreadable);
      return again;
    }
  }

  /** The bodies of all turns up to one, without a snapshot. */
  private List<byte[]> readTurns(long last, Store store, CodecException unreadable) {
    var found = store.turns(id).stream().filter(past -> past.number() <= last).toList();
    long whole =
        found.stream().filter(Store.StoredTurn::isFullState).mapToLong(Store.StoredTurn::number).max().orElse(0);
    if (whole == last) throw unreadable; // it is a turn, and no snapshot
    long begin = Math.max(1, whole);
    var turns = new TreeMap<Long, byte[]>(); // a turn may come again
    for (var past : found) if (past.number() >= begin) turns.put(past.number(), past.body());
    for (long number = begin; number <= last; number++) if (!turns.containsKey(number))
      throw withoutEvents("turn " + number + " is not stored any more", unreadable);
    return List.copyOf(turns.values());
  }

  private static CodecException withoutEvents(String why, CodecException unreadable) {
    return new CodecException(Lines.message(unreadable) + "; nor can its state be computed from its events, since "
        + why + ". Give events(..) a codec of the state that reads the old form, by evolution.readOld(..)", unreadable);
  }

  private void addAll(List<byte[]> bodies, long last, CodecException unreadable) {
    try {
      addAll(bodies, last);
    } catch (CodecException noEvent) {
      throw withoutEvents(Lines.message(noEvent), unreadable);
    }
  }

  private void addAll(List<byte[]> bodies, long last) {
    long turn = last - bodies.size();
    for (var body : bodies) add(body, ++turn);
  }

  private void add(byte[] bytes, long turn) {
    try {
      var body = Body.of(bytes, field -> unknownInNotes = field);
      if (body.state().isPresent()) readState(body.state().get());
      for (var event : body.events()) {
        var read =
            definition.requireCodec(definition.events(), "events").decode(event, field -> unknownInState = field);
        state = definition.applyEvent(state, read, turn, id);
      }
      body.notes().forEach(actorNotes::add);
      size += bytes.length;
      count++;
    } catch (CodecException unknown) {
      throw new CodecException("turn " + turn + " of " + id + " cannot be read: " + Lines.message(unknown), unknown);
    }
  }

  private void readState(byte[] bytes) {
    isSnapshotUnreadable = count == 0 && definition.events().isPresent();
    unknownInState = "";
    state = definition.requireCodec(definition.state(), "a state").decode(bytes, field -> unknownInState = field);
    stateSize = bytes.length;
    isSnapshotUnreadable = false;
  }

  // ---- what was found

  ActorNotes actorNotes() {
    return actorNotes;
  }

  S state() {
    return state;
  }

  long stateSize() {
    return stateSize;
  }

  long size() {
    return size;
  }

  int count() {
    return count;
  }

  UnknownFields unknown() {
    return new UnknownFields(unknownInState, unknownInNotes);
  }
}
