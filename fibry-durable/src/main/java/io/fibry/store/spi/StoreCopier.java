package io.fibry.store.spi;

import io.fibry.store.CopySummary;
import io.fibry.store.Store.ActorId;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend.PendingMessage;
import io.fibry.store.spi.StoreBackend.StoredTurn;
import io.fibry.store.spi.StoreBackend.Turn;
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
 * Copies the content of one store to another, kind by kind. Turns keep their numbers, and the turns
 * of a kind keep their order. In the target, a special actor, {@link #ACTOR}, sends the
 * pending messages of all actors. It first sends itself a message that marks the copy as
 * unfinished. Its last turn handles this message. Used by one thread.
 */
final class StoreCopier {
  /** The actor that sends the copied messages. It has a pending message until the copy is done. */
  static final ActorId ACTOR = new ActorId(":copy", "copy");
  /** The id of the message that is pending until the copy is done. */
  static final String UNFINISHED = "unfinished";
  private static final int MAX_PENDING_TURNS = 1_000; // turns that are being stored in the target
  private static final int BATCH_BYTES = 1 << 18; // approximate size of the messages of a turn
  private static final int MAX_MESSAGES = 500; // maximum number of messages of a turn

  /** A turn that was passed to the target. */
  private record CopyWrite(ActorId actor, String description, CompletionStage<Void> completion) {}

  /** Says which turns of an actor have been copied. */
  private static final class ActorProgress {
    private final long baseTurn; // the number of the first turn that is needed to load the actor
    // hash of the first body that a load reads. It shows whether the base is a copied turn or a
    // snapshot, because no turn has the body of a snapshot
    private final int baseHash;
    private final long lastTurn; // the number of its last turn
    private boolean isBaseCopied; // whether the target can load the actor from its base turn
    private long life; // the number of its life in the target; 0 if none has begun
    private long copiedTurn; // the number of the turn that was copied last

    ActorProgress(StoreBackend.LoadedActor loaded) {
      lastTurn = loaded.lastTurn();
      baseTurn = lastTurn - loaded.bodies().size() + 1;
      baseHash = loaded.bodies().isEmpty() ? 0 : Arrays.hashCode(loaded.bodies().getFirst());
      isBaseCopied = lastTurn == 0;
    }
  }

  private final StoreBackend source;
  private final StoreBackend target;
  private final Consumer<CopySummary> progress;
  private final Map<String, List<ActorId>> actors = new TreeMap<>(); // by kind
  private final ArrayDeque<CopyWrite> pendingWrites = new ArrayDeque<>();
  private final List<PendingMessage> batch = new ArrayList<>(); // messages that the next turn of the copy sends
  private int batchBytes; // size of the bodies in the batch
  private long life; // the number of the life of the copy's actor
  private long turnNumber; // number of the last turn of the copy's actor
  private long copiedActors;
  private long copiedTurns;
  private long copiedMessages;

  StoreCopier(StoreBackend source, StoreBackend target, Consumer<CopySummary> progress) {
    this.source = source;
    this.target = target;
    this.progress = progress;
  }

  CopySummary run() {
    if (source.equals(target)) throw new IllegalArgumentException(source + " cannot be copied to itself");
    if (source.hasUnfinishedCopy()) throw new IllegalArgumentException(
        source + " has only a part of a copy that was not finished; copy from the original store instead");
    try {
      beginLife();
      source.forEachActor(id -> actors.computeIfAbsent(id.kind(), kind -> new ArrayList<>()).add(id));
      actors.remove(ACTOR.kind());
      var views = views(actors.remove(StoreBackend.VIEWS));
      for (var view : views) store(view, 1, "");
      for (var kind : actors.keySet()) copy(kind);
      var offsets = new StoreComparison(source, target, actors, views).run();
      for (var view : offsets.entrySet()) store(view.getKey(), 2, view.getValue());
      send(List.of(UNFINISHED));
      target.endLife(ACTOR, life);
      return summary();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while " + source + " was copied to " + target);
    }
  }

  private CopySummary summary() {
    return new CopySummary(copiedActors, copiedTurns, copiedMessages);
  }

  /** Begins a life of the copy's actor. If a second copy begins another life, this copy fails. */
  private void beginLife() throws InterruptedException {
    var loaded = target.load(ACTOR);
    life = loaded.life();
    turnNumber = loaded.lastTurn();
    target.forEachActor(id -> {
      throw new IllegalArgumentException(
          source + " cannot be copied to " + target + ", which has " + (id.equals(ACTOR)
              ? "another copy already" : id + " already") + "; give an empty store");
    });
    batch.add(new PendingMessage(ACTOR, UNFINISHED, PendingMessage.NEVER, new byte[0]));
    send(List.of());
  }

  private void copy(String kind) throws InterruptedException {
    var progressByActor = new HashMap<ActorId, ActorProgress>();
    try (var history = source.history(kind, "")) {
      for (var page = history.poll(); !page.isEmpty(); page = history.poll()) {
        for (var turn : page) {
          var id = new ActorId(kind, turn.key());
          copy(id, progressByActor.computeIfAbsent(id, this::read), turn);
        }
        progress.accept(summary());
      }
    }
    for (var id : actors.get(kind)) end(id, progressByActor.computeIfAbsent(id, this::read));
    awaitPendingAtMost(0);
    for (var id : actors.get(kind)) copyMessages(id);
    if (!batch.isEmpty()) send(List.of());
    progress.accept(summary());
  }

  // ---- turns

  private ActorProgress read(ActorId id) {
    return new ActorProgress(StoreComparison.read(source, id));
  }

  private void copy(ActorId id, ActorProgress actor, StoredTurn turn) throws InterruptedException {
    if (turn.number() <= actor.copiedTurn) return; // the history has returned this turn before
    if (turn.number() > actor.baseTurn) copyBase(id, actor);
    if (turn.number() > actor.lastTurn || turn.number() > actor.baseTurn && turn.number() != actor.copiedTurn + 1)
      throw missing(id, actor);
    continueFrom(id, actor, turn.number());
    var copy =
        new Turn(id, actor.life, turn.number(), turn.at(), turn.isFullState(), turn.body(), List.of(), List.of());
    if (!target.preservesGlobalOrder() && !pendingWrites.isEmpty() && !pendingWrites.getLast().actor.equals(id))
      awaitPendingAtMost(0);
    addWrite(new CopyWrite(id, "turn " + turn.number() + " of " + id,
        turn.isFullState() ? target.end(copy) : target.append(copy)));
    copiedTurns++;
    if (turn.number() < actor.baseTurn) return;
    if (Arrays.hashCode(turn.body()) == actor.baseHash) actor.isBaseCopied = true; // so the target needs no snapshot
    copyBase(id, actor);
  }

  /** Stores the base turn as a snapshot, unless the target can load the actor from it already. */
  private void copyBase(ActorId id, ActorProgress actor) {
    if (actor.isBaseCopied) return;
    actor.isBaseCopied = true;
    if (actor.copiedTurn != actor.baseTurn) continueFrom(id, actor, actor.baseTurn + 1);
    var body = StoreComparison.read(source, id).bodies().getFirst();
    target.snapshot(
        new Turn(id, actor.life, actor.baseTurn, source.clock().instant(), true, body, List.of(), List.of()));
    actor.copiedTurn = actor.baseTurn;
  }

  /**
   * Makes the target expect turn {@code next} as the actor's next turn. This turn need not follow
   * the last copied turn, because the source may have deleted turns.
   */
  private void continueFrom(ActorId id, ActorProgress actor, long next) {
    if (actor.life == 0 || next != actor.copiedTurn + 1) actor.life = target.beginLife(id, next - 1);
    actor.copiedTurn = next;
  }

  private void end(ActorId id, ActorProgress actor) {
    copyBase(id, actor);
    if (actor.copiedTurn != actor.lastTurn) throw missing(id, actor);
    if (actor.lastTurn == 0) return;
    target.endLife(id, actor.life);
    copiedActors++;
  }

  private IllegalStateException missing(ActorId id, ActorProgress actor) {
    return new IllegalStateException(
        id + " has " + Lines.count(actor.lastTurn, "turn") + " at " + source
            + ", and its history could be copied up to turn "
            + actor.copiedTurn + ". Turns were stored during the copy, or are not in the history yet; "
            + "copy again into an empty store");
  }

  private void addWrite(CopyWrite write) throws InterruptedException {
    pendingWrites.add(write);
    awaitPendingAtMost(MAX_PENDING_TURNS);
  }

  private void awaitPendingAtMost(int maxPending) throws InterruptedException {
    while (pendingWrites.size() > maxPending) await(pendingWrites.remove());
  }

  private void await(CopyWrite write) throws InterruptedException {
    try {
      write.completion.toCompletableFuture().get();
    } catch (ExecutionException refused) {
      throw new StoreWriteException(write.description + " could not be copied to " + target + ": "
          + Lines.message(refused.getCause()) + ". The copy is not finished", refused.getCause());
    }
  }

  // ---- messages

  private void copyMessages(ActorId id) throws InterruptedException {
    for (var message : source.pending(id, PendingMessage.NEVER, Integer.MAX_VALUE)) {
      int messageBytes = message.body().length;
      if (!batch.isEmpty() && batchBytes + messageBytes > BATCH_BYTES || batch.size() == MAX_MESSAGES) {
        send(List.of());
        progress.accept(summary());
      }
      batch.add(message);
      batchBytes += messageBytes;
      copiedMessages++;
    }
  }

  private void send(List<String> handledIds) throws InterruptedException {
    var turn = new Turn(ACTOR, life, ++turnNumber, source.clock().instant(), true, new byte[0], handledIds,
        List.copyOf(batch));
    batch.clear();
    batchBytes = 0;
    await(new CopyWrite(ACTOR, "messages", target.append(turn)));
  }

  // ---- views

  /** Returns the views that were not forgotten. */
  private List<ViewOffset> views(List<ActorId> viewActors) {
    var views = new ArrayList<ViewOffset>();
    if (viewActors != null) for (var id : viewActors) {
      var bodies = StoreComparison.read(source, id).bodies();
      if (!bodies.isEmpty()) ViewOffset.of(id, bodies.getLast()).ifPresent(views::add);
    }
    return views;
  }

  /**
   * Stores the offset of a view in the target. Called with an empty offset before the turns are
   * copied, so that the target keeps the turns of erased actors for the view. Called with the real
   * offset after the comparison.
   */
  private void store(ViewOffset view, long viewTurn, String offset) throws InterruptedException {
    var id = view.actor();
    long viewLife = target.beginLife(id, viewTurn - 1);
    var viewOffset = new ViewOffset(view.kind(), view.name(), offset);
    await(new CopyWrite(id, "the offset of view " + id.key(), target.append(new Turn(id, viewLife, viewTurn,
        source.clock().instant(), true, viewOffset.body(), List.of(), List.of()))));
    target.endLife(id, viewLife);
  }
}
