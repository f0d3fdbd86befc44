package io.fibry.durable;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.store.Store;
import java.time.Instant;
import java.util.List;

/**
 * Reads the events of a kind, in the order in which they were stored: a view, an index, a report.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.durable.JavadocSnippetsTest" region="follow"}
 *
 * <p>Each stored event comes once or more, and an event that is not stored never comes. After a
 * crash the last events may come again, which {@link StoredEvent#turn} shows. An event whose
 * handler throws comes again, after pauses that grow to a minute, and those behind it wait. An
 * event that cannot be read ends the actor, and is told in the log.
 *
 * <p>The events of an actor that has ended ({@link DurableContext#erase}) stay in the store until
 * all views with a name have passed its end; then they are removed. The store knows the name of a
 * view from its first {@link #newActor} on, until {@link #forget}. While the view does not run, the
 * store keeps these events for it. A view without a name, or with a new name, may not see them.
 *
 * @param <E> events
 */
public interface EventView<E> {

  /**
   * An event that was stored.
   *
   * @param <E> events
   * @param key of the actor that it is of
   * @param turn the number of its turn among the turns of the actor; it grows
   * @param at when
   * @param event the event
   */
  record StoredEvent<E>(String key, long turn, Instant at, E event) {}

  /**
   * An actor has ended, by {@link DurableContext#erase}. Its next message begins it again; turns of
   * then have higher numbers.
   *
   * @param key of the actor
   * @param turn with which it ended
   * @param at when
   */
  record EndedActor(String key, long turn, Instant at) {}

  /**
   * A name that a store knows.
   *
   * @param kind of the actors whose events the view reads
   * @param name of the view
   * @param readUntil when it last noted where it stands, or began
   * @param isBehind whether there are events that it has not passed: if it does not run any more,
   *     {@link EventView#forget} it
   */
  record NamedView(String kind, String name, Instant readUntil, boolean isBehind) {}

  /**
   * Tells which views a store knows by name. It reads their history, which may take long.
   *
   * @param store where their names are
   * @return the views that were not forgotten, oldest first
   */
  static List<NamedView> views(Store store) {
    return StoredViews.of(store);
  }

  /**
   * Goes on, when it is made again, where this name stood; so the name is written to the store.
   * Without one, it begins with the first event each time.
   *
   * @param name of the view; it has one actor at a time
   * @return a changed copy
   */
  EventView<E> named(String name);

  /**
   * Calls a handler when an actor has ended, after the actor's events. By default the end is
   * ignored.
   *
   * @param handler called by the view's actor, as the handler of events is: if it throws, the end
   * comes again
   * @return a changed copy
   */
  EventView<E> onEnd(Handler<EndedActor> handler);

  /**
   * Lets the store forget the name: it keeps no events of ended actors for this view any more. A
   * view that is made with this name later begins with the first event. An actor that another
   * process has for it ends when it next notes where it stands.
   *
   * @param store the store that knows the name; otherwise the call has no effect
   * @throws IllegalStateException if this has no name, or if the name has an actor at this store
   * @throws io.fibry.store.StoreException if that cannot be stored
   */
  void forget(Store store);

  /**
   * Begins to read. Closing waits for the event that is handled, and notes where it stands.
   *
   * @param how makes the actor that handles events
   * @param store where the events are
   * @param handler gets them one by one
   * @return the actor, to end it; it ends by itself when the store is closed
   * @throws IllegalStateException if this name has an actor at this store
   * @throws io.fibry.store.StoreException if the name cannot be read or stored
   */
  Exitable newActor(ActorBuilder<?> how, Store store, Handler<StoredEvent<E>> handler);
}
