package io.fibry.durable;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.store.Store;
import java.time.Instant;

/**
 * Reads the events of a kind, in the order in which they were stored: a view, an index, a report.
 * Immutable and thread-safe.
 * {@snippet class="io.fibry.durable.JavadocSnippetsTest" region="follow"}
 *
 * <p>Each event that is stored comes once or more, and none that is not; after a crash, the last
 * ones may come again, which {@link Fact#turn} tells. An event whose handler throws comes again,
 * after pauses that grow to a minute, and those behind it wait. An event that cannot be read ends
 * the actor, and is told in the log.
 *
 * <p>{@link DurableContext#end} forgets events. If an actor has ended, a view that is behind may or
 * may not see its events, and no view sees the events of the turn that ended it. If a view needs an
 * event, let a later turn end the actor, after the view has seen the event.
 *
 * @param <E> events
 */
public interface Follow<E> {

  /**
   * An event that was stored.
   *
   * @param <E> events
   * @param key of the actor that it is of
   * @param turn its turn among those of the actor; later ones have higher numbers
   * @param at when
   * @param event the event
   */
  record Fact<E>(String key, long turn, Instant at, E event) {}

  /**
   * Goes on, when it is made again, where this name stood; so the name is written to the store.
   * Without one, it begins with the first event each time.
   *
   * @param name of the view; it has one actor at a time
   * @return a changed copy
   */
  Follow<E> as(String name);

  /**
   * Begins to read. Closing waits for the event that is handled, and notes where it stands.
   *
   * @param how makes the actor that handles events
   * @param store where the events are
   * @param handler gets them one by one
   * @return the actor, to end it; it ends by itself when the store is closed
   * @throws IllegalStateException if this name has an actor at this store
   */
  Exitable newActor(ActorBuilder<?> how, Store store, Handler<Fact<E>> handler);
}
