package io.fibry.durable;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.durable.view.StoredViews;
import io.fibry.store.Store;
import java.time.Instant;
import java.util.List;

/**
 * Reads the events of a kind in the order in which they were stored, for example to fill an index.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.durable.JavadocSnippetsTest" region="follow"}
 *
 * <p>Each stored event is handled at least once; an event that is not stored is never handled.
 * After a crash the last events may be delivered again, with the same {@link StoredEvent#turn}. An
 * event whose handler throws is delivered again, after pauses that grow to a minute, and later
 * events wait. An event that cannot be read ends the view's actor, and is logged.
 *
 * <p>The events of an erased actor ({@link DurableContext#erase}) stay in the store until all views
 * with a name have read the actor's end. After that they are removed. The store knows a view's name
 * from its first {@link #newActor} to {@link #forget}. While the view does not run, the store keeps
 * these events for it. A view without a name, or with a new name, may miss them.
 *
 * @param <E> events
 */
public interface EventView<E> {

  /**
   * An event that was stored.
   *
   * @param <E> events
   * @param key key of the actor
   * @param turn number of the turn that stored the event; it grows with each turn of the actor
   * @param at time of the turn
   * @param event the event
   */
  record StoredEvent<E>(String key, long turn, Instant at, E event) {}

  /**
   * The end of an actor, by {@link DurableContext#erase}. The next message begins the actor again;
   * its later turns have higher numbers.
   *
   * @param key key of the actor
   * @param turn number of the turn that erased the actor
   * @param at time of that turn
   */
  record EndedActor(String key, long turn, Instant at) {}

  /**
   * A view whose name a store knows.
   *
   * @param kind of the actors whose events the view reads
   * @param name of the view
   * @param readUntil when the view last stored its offset; if it never did, when it was first
   *     started
   * @param isBehind whether there are events that the view has not read. If the view no longer
   *     runs, {@link EventView#forget} it
   */
  record NamedView(String kind, String name, Instant readUntil, boolean isBehind) {}

  /**
   * Returns the views that a store knows by name. Reads all offsets that views have stored, which
   * may take long.
   *
   * @param store the store
   * @return the views that were not forgotten; the view that stored its offset last comes last
   */
  static List<NamedView> views(Store store) {
    return StoredViews.of(store);
  }

  /**
   * Gives the view a name, under which the store keeps its offset. A new actor of the view then
   * continues at this offset; without a name it begins with the first event.
   *
   * @param name of the view, which has one actor at a time
   * @return a changed copy
   */
  EventView<E> named(String name);

  /**
   * Sets the handler for ends of actors, which is called after the actor's events. Without a
   * handler, ends are ignored.
   *
   * @param handler called by the view's actor, like the handler of events: if it throws, the end
   * is delivered again
   * @return a changed copy
   */
  EventView<E> onEnd(Handler<EndedActor> handler);

  /**
   * Removes the name from the store. The store then keeps no events of erased actors for this view.
   * A view that is given this name later begins with the first event. If another process runs the
   * view, the view's actor ends when it next stores its offset.
   *
   * @param store the store; if it does not know the name, the call has no effect
   * @throws IllegalStateException if this view has no name, or has an actor at this store
   * @throws io.fibry.store.StoreException if the removal cannot be stored
   */
  void forget(Store store);

  /**
   * Starts an actor that handles the events. Closing the actor waits until the current event is
   * handled, and stores the offset.
   *
   * @param builder builder of the actor
   * @param store the store that has the events
   * @param handler gets the events one by one
   * @return the actor, which the caller may end; it also ends when the store is closed
   * @throws IllegalStateException if this view has an actor at this store already
   * @throws io.fibry.store.StoreException if the name cannot be read or stored
   */
  Exitable newActor(ActorBuilder<?> builder, Store store, Handler<StoredEvent<E>> handler);
}
