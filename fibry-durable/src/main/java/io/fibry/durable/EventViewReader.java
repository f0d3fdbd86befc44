package io.fibry.durable;

import io.fibry.Actor;
import io.fibry.Done;
import io.fibry.Handler;
import io.fibry.Request;
import io.fibry.durable.EventView.StoredEvent;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreReadException;
import io.fibry.store.ViewOffset;
import io.fibry.time.Scheduler;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.slf4j.LoggerFactory;

/** Reads events on a fiber, gives them to an actor one by one, and notes where it stands. */
final class EventViewReader<E> implements AutoCloseable {
  /**
   * An event, or the end of an actor, for the actor of the view, which replies when it has handled
   * it.
   */
  record EventDelivery(Object fact, Handler.Task handlerTask) implements Request<EventDelivery, Done> {
    @Override
    public String toString() {
      return fact.toString();
    }
  }

  private static final int MAX_PAUSE = 6; // pauses, in seconds, double so often

  private final DefaultEventView<E> eventView;
  private final Handler<StoredEvent<E>> handler;
  private final Store store;
  private final Optional<Store.ActorId> id; // the id of its place at the store; empty if the place is not stored
  private final Scheduler scheduler;
  private final Actor<EventDelivery> actor;
  private final Store.History history;
  private final Thread thread;
  private final Semaphore wake = new Semaphore(0); // from a pause
  private volatile boolean closing; // written by the actor's thread
  private String offset = ""; // of the turn that was handled last; of the fiber, as all below, once it is started
  private Optional<StoredViews.ViewState> state; // the stored place

  private EventViewReader(DefaultEventView<E> eventView, Handler<StoredEvent<E>> handler, Store store,
      Optional<Store.ActorId> id,
      Scheduler scheduler, Actor<EventDelivery> actor) {
    this.eventView = eventView;
    this.handler = handler;
    this.store = store;
    this.id = id;
    this.scheduler = scheduler;
    this.actor = actor;
    this.state = id.map(view -> StoredViews.ViewState.load(store, view).ensureKnown(store));
    state.ifPresent(known -> offset = known.offset());
    this.history = store.history(eventView.kind(), offset);
    this.thread = Thread.ofVirtual().name("reader of " + eventView).unstarted(this::run);
  }

  static <E> EventViewReader<E> start(DefaultEventView<E> eventView, Handler<StoredEvent<E>> handler, Store store,
      Optional<Store.ActorId> id,
      Scheduler scheduler, Actor<EventDelivery> actor) {
    var reader = new EventViewReader<>(eventView, handler, store, id, scheduler, actor);
    boolean started = false;
    try {
      reader.thread.start();
      started = true;
      return reader;
    } finally {
      if (!started) reader.history.close();
    }
  }

  private void run() {
    try (history) {
      while (deliverAll(readNext())) save();
      save();
    } catch (StoreClosedException | InterruptedException over) {
      // the actor ends, or has to
    } catch (Throwable failure) {
      LoggerFactory.getLogger(EventView.class).error("{} ends", eventView, failure);
      if (failure instanceof DefaultEventView.NoEventsException && offset.isEmpty()) withdraw();
    } finally {
      actor.askExit();
    }
  }

  private List<Store.StoredTurn> readNext() throws InterruptedException {
    for (int tries = 0;; tries++) {
      try {
        return history.take();
      } catch (StoreReadException failure) {
        LoggerFactory.getLogger(EventView.class).warn("{} tries again later", eventView, failure);
        pause(tries);
      }
    }
  }

  /** Returns false if the actor ends. */
  private boolean deliverAll(List<Store.StoredTurn> turns) throws InterruptedException {
    for (var turn : turns) {
      for (var told : eventView.deliveries(turn, handler)) if (!awaitHandled(told)) return false;
      offset = turn.offset();
    }
    return true;
  }

  private boolean awaitHandled(EventDelivery told) throws InterruptedException {
    for (int tries = 0; !closing; tries++) {
      try {
        actor.sendMessageReturn(told).get();
        return true;
      } catch (ExecutionException | CancellationException failed) { // the actor's policy has heard of it
        pause(tries);
      }
    }
    return false;
  }

  private void pause(int tries) throws InterruptedException {
    wake.drainPermits();
    if (closing) return;
    var timer = scheduler.schedule(Duration.ofSeconds(1L << Math.min(tries, MAX_PAUSE)), wake::release);
    wake.acquire();
    timer.cancel();
  }

  // ---- where it stands

  private void save() throws InterruptedException {
    if (state.isEmpty() || offset.equals(state.get().offset())) return;
    saveOffset(offset.getBytes(StandardCharsets.UTF_8));
  }

  private void saveOffset(byte[] body) throws InterruptedException {
    try {
      state = Optional.of(state.orElseThrow().storeNext(store, body));
    } catch (ExecutionException refused) {
      var why = TurnPipeline.refusalCause(refused);
      if (why instanceof StoreClosedException || why instanceof StaleLifeException) throw why;
      LoggerFactory.getLogger(EventView.class).warn("{} could not note where it stands, and goes on", eventView, why);
      reload(); // the refused turn has ended its life at the store
    }
  }

  /** Otherwise the store would keep turns for a view that can read none. */
  private void withdraw() {
    try {
      if (state.isPresent()) saveOffset(ViewOffset.forgotten());
    } catch (InterruptedException | RuntimeException over) {
      LoggerFactory.getLogger(EventView.class).warn("{} is still known to {}; forget it there", eventView, store, over);
    }
  }

  private void reload() throws InterruptedException {
    for (int tries = 0; !closing; tries++) {
      try {
        state = id.map(view -> StoredViews.ViewState.load(store, view));
        if (!state.orElseThrow().isKnown()) throw new IllegalStateException(eventView + " was forgotten at " + store);
        return;
      } catch (StoreReadException failure) {
        LoggerFactory.getLogger(EventView.class).warn("{} tries again later", eventView, failure);
        pause(tries);
      }
    }
  }

  /** After the event that is being handled. */
  @Override
  public void close() {
    closing = true;
    wake.release();
    history.close();
    try {
      thread.join();
    } catch (InterruptedException killed) {
      Thread.currentThread().interrupt();
    }
  }
}
