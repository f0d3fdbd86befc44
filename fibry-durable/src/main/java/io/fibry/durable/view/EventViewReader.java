package io.fibry.durable.view;

import io.fibry.Actor;
import io.fibry.Done;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.durable.EventView;
import io.fibry.durable.EventView.StoredEvent;
import io.fibry.durable.storage.StoreRefusals;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreReadException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import io.fibry.text.SafeLogger;
import io.fibry.time.Scheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;

/** Reads events on a fiber, lets an actor handle them one by one, and stores the offset. */
final class EventViewReader<E> implements AutoCloseable {
  /**
   * A request to the view's actor to handle an event, or the end of an actor. The view's actor
   * replies when it has handled the event or the end.
   */
  record EventDelivery(Object eventOrEnd, Handler.Task handling) implements Request<EventDelivery, Done> {
    @Override
    public String toString() {
      return eventOrEnd.toString();
    }
  }

  private static final int MAX_PAUSE_DOUBLINGS = 6; // pauses from 1 to 64 seconds

  private final DefaultEventView<E> eventView;
  private final Handler<StoredEvent<E>> handler;
  private final StoreBackend store;
  private final Optional<Store.ActorId> id; // under which the offset is stored; empty if the view has no name
  private final Scheduler scheduler;
  private final Actor<EventDelivery> actor;
  private final StoreBackend.History history;
  private final Thread thread;
  private final Semaphore wake = new Semaphore(0); // a permit ends a pause
  private volatile boolean closing; // written by the actor's thread
  private String offset = ""; // of the last handled turn; after the start, only the fiber uses this field and `state`
  private Optional<StoredViews.ViewState> state; // the stored offset; empty if the view has no name

  private EventViewReader(DefaultEventView<E> eventView, Handler<StoredEvent<E>> handler, StoreBackend store,
      Optional<Store.ActorId> id,
      Scheduler scheduler, Actor<EventDelivery> actor) {
    this.eventView = eventView;
    this.handler = handler;
    this.store = store;
    this.id = id;
    this.scheduler = scheduler;
    this.actor = actor;
    this.state = id.map(view -> StoredViews.ViewState.load(store, view).ensureKnown(store));
    state.ifPresent(viewState -> offset = viewState.offset());
    this.history = store.history(eventView.kind(), offset);
    this.thread = Thread.ofVirtual().name("reader of " + eventView).unstarted(this::run);
  }

  static <E> EventViewReader<E> start(DefaultEventView<E> eventView, Handler<StoredEvent<E>> handler,
      StoreBackend store,
      Optional<Store.ActorId> id,
      Scheduler scheduler, Actor<EventDelivery> actor) {
    var reader = new EventViewReader<>(eventView, handler, store, id, scheduler, actor);
    boolean isStarted = false;
    try {
      reader.thread.start();
      isStarted = true;
      return reader;
    } finally {
      if (!isStarted) reader.history.close();
    }
  }

  private void run() {
    try (history) {
      while (deliverAll(readNext())) save();
      save();
    } catch (StoreClosedException | InterruptedException closed) {
      // the actor or the store is closed, so the reader ends
    } catch (Throwable failure) {
      SafeLogger.of(EventView.class).error("{} ends", eventView, failure);
      if (failure instanceof DefaultEventView.NoEventsException && offset.isEmpty()) withdraw();
    } finally {
      actor.askExit();
    }
  }

  private List<StoreBackend.StoredTurn> readNext() throws InterruptedException {
    for (int tries = 0;; tries++) {
      try {
        return history.take();
      } catch (StoreReadException failure) {
        SafeLogger.of(EventView.class).warn("{} tries again later", eventView, failure);
        pause(tries);
      }
    }
  }

  /** Lets the actor handle the turns, one after the other. Returns false if the actor ends. */
  private boolean deliverAll(List<StoreBackend.StoredTurn> turns) throws InterruptedException {
    for (var turn : turns) {
      for (var delivery : eventView.deliveries(turn, handler)) if (!awaitHandled(delivery)) return false;
      offset = turn.offset();
    }
    return true;
  }

  private boolean awaitHandled(EventDelivery delivery) throws InterruptedException {
    for (int tries = 0; !closing; tries++) {
      try {
        actor.sendMessageReturn(delivery).get();
        return true;
      } catch (ExecutionException | CancellationException failure) { // the actor's failure policy has handled it
        pause(tries);
      }
    }
    return false;
  }

  private void pause(int tries) throws InterruptedException {
    wake.drainPermits();
    if (closing) return;
    var timer = scheduler.schedule(Duration.ofSeconds(1L << Math.min(tries, MAX_PAUSE_DOUBLINGS)), wake::release);
    wake.acquire();
    timer.cancel();
  }

  // ---- the offset

  private void save() throws InterruptedException {
    if (state.isEmpty() || offset.equals(state.get().offset())) return;
    saveOffset(offset.getBytes(StandardCharsets.UTF_8));
  }

  private void saveOffset(byte[] body) throws InterruptedException {
    try {
      state = Optional.of(state.orElseThrow().storeNext(store, body));
    } catch (ExecutionException refusal) {
      var cause = StoreRefusals.causeOf(refusal);
      if (cause instanceof StoreClosedException || cause instanceof StaleLifeException) throw cause;
      SafeLogger.of(EventView.class).warn("{} could not store its offset, and continues", eventView, cause);
      reload(); // because of the refusal, this life can store no more turns
    }
  }

  /** Removes the name, because the store would keep turns for a view that can read none. */
  private void withdraw() {
    try {
      if (state.isPresent()) saveOffset(ViewOffset.forgottenBody());
    } catch (InterruptedException | RuntimeException failure) {
      SafeLogger.of(EventView.class).warn("{} could not remove its name from {}; call forget(store)",
          eventView, store, failure);
    }
  }

  private void reload() throws InterruptedException {
    for (int tries = 0; !closing; tries++) {
      try {
        state = id.map(view -> StoredViews.ViewState.load(store, view));
        if (!state.orElseThrow().isKnown()) throw new IllegalStateException(eventView + " was forgotten at " + store);
        return;
      } catch (StoreReadException failure) {
        SafeLogger.of(EventView.class).warn("{} tries again later", eventView, failure);
        pause(tries);
      }
    }
  }

  /** Ends the reader, and waits until the current event is handled and the offset is stored. */
  @Override
  public void close() {
    closing = true;
    wake.release();
    history.close();
    try {
      thread.join();
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
