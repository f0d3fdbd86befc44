package io.fibry.store;

import io.fibry.store.Store.ActorId;
import io.fibry.store.Store.PendingMessage;
import io.fibry.store.Store.StoredTurn;
import io.fibry.store.Store.Turn;
import io.fibry.text.Lines;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Copies what is stored from one store to another, kind by kind. Turns keep their numbers, and the
 * turns of a kind their order. All waiting messages are sent by an actor of the copy's own. Its
 * first message says that the copy is not finished, and its last turn has done that message. Used
 * by one thread.
 */
final class StoreCopier {
  private static final int MAX_PENDING_TURNS = 1_000; // turns
  private static final int BATCH_BYTES = 1 << 18; // bytes of messages, about
  private static final int MAX_MESSAGES = 500; // of a turn

  /** An object that is being stored in the other store. */
  private record CopyWrite(ActorId of, String description, CompletionStage<Void> stored) {}

  /** How far the turns of an actor are. */
  private static final class ActorProgress {
    private final long first; // the number of the whole one, from which it is read
    private final int hash; // of what that one says; its turn, if it is in the history, may say something else
    private final long last;
    private boolean isBaseCopied; // the other store can read it from there
    private long life; // at the other store
    private long number; // of the turn that was given last

    ActorProgress(Store.LoadedActor loaded) {
      last = loaded.lastTurn();
      first = last - loaded.bodies().size() + 1;
      hash = loaded.bodies().isEmpty() ? 0 : Arrays.hashCode(loaded.bodies().getFirst());
      isBaseCopied = last == 0;
    }
  }

  private final Store from;
  private final Store to;
  private final Consumer<CopySummary> progress;
  private final Map<String, List<ActorId>> actors = new TreeMap<>(); // by kind
  private final ArrayDeque<CopyWrite> pendingWrites = new ArrayDeque<>();
  private final List<PendingMessage> batch = new ArrayList<>(); // messages that are to be sent
  private long life; // of the actor that sends them
  private long number;
  private long actorsSoFar;
  private long turns;
  private long messages;

  StoreCopier(Store from, Store to, Consumer<CopySummary> progress) {
    this.from = from;
    this.to = to;
    this.progress = progress;
  }

  CopySummary run() {
    if (from.equals(to)) throw new IllegalArgumentException(from + " cannot be copied to itself");
    if (CopySummary.isUnfinishedIn(from)) throw new IllegalArgumentException(
        from + " has a copy that was not finished; copy from the first store again");
    try {
      beginLife();
      from.forEachActor(id -> actors.computeIfAbsent(id.kind(), none -> new ArrayList<>()).add(id));
      actors.remove(CopySummary.ACTOR.kind());
      var views = views(actors.remove(Store.VIEWS));
      for (var view : views) store(view, 1, "");
      for (var kind : actors.keySet()) copy(kind);
      var places = new StoreComparison(from, to, actors, views).run();
      for (var view : places.entrySet()) store(view.getKey(), 2, view.getValue());
      send(List.of(CopySummary.UNFINISHED));
      to.endLife(CopySummary.ACTOR, life);
      return summary();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + from + " was copied to " + to);
    }
  }

  private CopySummary summary() {
    return new CopySummary(actorsSoFar, turns, messages);
  }

  /** A second copy that begins meanwhile ends the life of this one. */
  private void beginLife() throws InterruptedException {
    var loaded = to.load(CopySummary.ACTOR);
    life = loaded.life();
    number = loaded.lastTurn();
    to.forEachActor(id -> {
      throw new IllegalArgumentException(
          from + " cannot be copied to " + to + ", which has " + (id.equals(CopySummary.ACTOR)
              ? "another copy already" : id + " already") + "; give an empty store");
    });
    batch.add(new PendingMessage(CopySummary.ACTOR, CopySummary.UNFINISHED, PendingMessage.NEVER, new byte[0]));
    send(List.of());
  }

  private void copy(String kind) throws InterruptedException {
    var known = new HashMap<ActorId, ActorProgress>();
    try (var history = from.history(kind, "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll()) {
        for (var past : page) {
          var id = new ActorId(kind, past.key());
          copy(id, known.computeIfAbsent(id, this::read), past);
        }
        progress.accept(summary());
      }
    }
    for (var id : actors.get(kind)) end(id, known.computeIfAbsent(id, this::read));
    awaitAtMost(0);
    for (var id : actors.get(kind)) copyMessages(id);
    if (!batch.isEmpty()) send(List.of());
    progress.accept(summary());
  }

  // ---- turns

  /** Reads the stored turns of an actor that does not live. */
  static Store.LoadedActor read(Store store, ActorId id) {
    var loaded = store.load(id);
    store.endLife(id, loaded.life());
    return loaded;
  }

  private ActorProgress read(ActorId id) {
    return new ActorProgress(read(from, id));
  }

  private void copy(ActorId id, ActorProgress actor, StoredTurn past) throws InterruptedException {
    if (past.number() <= actor.number) return; // it came again
    if (past.number() > actor.first) copyBase(id, actor);
    if (past.number() > actor.last || past.number() > actor.first && past.number() != actor.number + 1)
      throw missing(id, actor);
    continueFrom(id, actor, past.number());
    var turn =
        new Turn(id, actor.life, past.number(), past.at(), past.isFullState(), past.body(), List.of(), List.of());
    if (!to.preservesGlobalOrder() && !pendingWrites.isEmpty() && !pendingWrites.getLast().of.equals(id))
      awaitAtMost(0);
    addWrite(
        new CopyWrite(id, "turn " + past.number() + " of " + id, past.isFullState() ? to.end(turn) : to.append(turn)));
    turns++;
    if (past.number() < actor.first) return;
    if (Arrays.hashCode(past.body()) == actor.hash) actor.isBaseCopied = true; // it is no snapshot
    copyBase(id, actor);
  }

  /** The other store can read the actor from its snapshot, or last whole turn, on. */
  private void copyBase(ActorId id, ActorProgress actor) {
    if (actor.isBaseCopied) return;
    actor.isBaseCopied = true;
    if (actor.number != actor.first) continueFrom(id, actor, actor.first + 1);
    var body = read(from, id).bodies().getFirst();
    to.snapshot(
        new Turn(id, actor.life, actor.first, from.clock().instant(), true, body, List.of(), List.of()));
    actor.number = actor.first;
  }

  /** Continues with the turn of this number, since earlier turns may be gone. */
  private void continueFrom(ActorId id, ActorProgress actor, long next) {
    if (actor.life == 0 || next != actor.number + 1) actor.life = to.beginLife(id, next - 1);
    actor.number = next;
  }

  private void end(ActorId id, ActorProgress actor) {
    copyBase(id, actor);
    if (actor.number != actor.last) throw missing(id, actor);
    if (actor.last == 0) return;
    to.endLife(id, actor.life);
    actorsSoFar++;
  }

  private IllegalStateException missing(ActorId id, ActorProgress actor) {
    return new IllegalStateException(id + " has " + actor.last + " turns at " + from + ", and its history goes to "
        + actor.number + ". Something stores turns there, or holds them back; copy again into an empty store");
  }

  private void addWrite(CopyWrite turn) throws InterruptedException {
    pendingWrites.add(turn);
    awaitAtMost(MAX_PENDING_TURNS);
  }

  private void awaitAtMost(int max) throws InterruptedException {
    while (pendingWrites.size() > max) await(pendingWrites.remove());
  }

  private void await(CopyWrite giving) throws InterruptedException {
    try {
      giving.stored.toCompletableFuture().get();
    } catch (ExecutionException refused) {
      throw new StoreWriteException(giving.description + " could not be copied to " + to + ": "
          + Lines.message(refused.getCause()) + ". The copy is not finished", refused.getCause());
    }
  }

  // ---- what waits

  private void copyMessages(ActorId id) throws InterruptedException {
    int bytes = 0;
    for (var message : from.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE)) {
      bytes += message.body().length;
      if (!batch.isEmpty() && bytes > BATCH_BYTES || batch.size() == MAX_MESSAGES) {
        send(List.of());
        progress.accept(summary());
        bytes = message.body().length;
      }
      batch.add(message);
      messages++;
    }
  }

  private void send(List<String> done) throws InterruptedException {
    var sent = new Turn(CopySummary.ACTOR, life, ++number, from.clock().instant(), true, new byte[0], done,
        List.copyOf(batch));
    batch.clear();
    await(new CopyWrite(CopySummary.ACTOR, "what waits", to.append(sent)));
  }

  // ---- views

  /** Those that were not forgotten. */
  private List<ViewOffset> views(List<ActorId> stored) {
    var views = new ArrayList<ViewOffset>();
    if (stored != null) for (var id : stored) {
      var bodies = read(from, id).bodies();
      if (!bodies.isEmpty()) ViewOffset.of(id, bodies.getLast()).ifPresent(views::add);
    }
    return views;
  }

  /**
   * Called before the turns of actors are copied, with the empty place, so that turns before ends
   * stay, and again with the place.
   */
  private void store(ViewOffset view, long turn, String place) throws InterruptedException {
    var id = view.actor();
    long begun = to.beginLife(id, turn - 1);
    var stands = new ViewOffset(view.kind(), view.name(), place);
    await(new CopyWrite(id, "the place of view " + id.key(), to.append(new Turn(id, begun, turn, from.clock().instant(),
        true, stands.body(), List.of(), List.of()))));
    to.endLife(id, begun);
  }
}
