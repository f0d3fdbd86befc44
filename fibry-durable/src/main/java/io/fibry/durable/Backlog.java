package io.fibry.durable;

import io.fibry.store.Store;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * Messages that waited for an actor when its state was read: none that came later is handled before
 * them, though the actor before may have ended with some in its mailbox. Of the actor's thread.
 */
final class Backlog {
  private final Delivery delivery;
  private final Store.Id id;
  private final LinkedHashSet<String> older; // ids of those that were not handled since, oldest first

  Backlog(Delivery delivery, Store.Id id, List<String> waiting) {
    this.delivery = delivery;
    this.id = id;
    this.older = new LinkedHashSet<>(waiting);
    older.removeIf(one -> !Mail.isSent(one));
  }

  /** One before it goes on waiting: it comes again behind that one. Requests do not. */
  boolean isOutOfTurn(Kept<?> kept) {
    boolean ordered = !kept.asked() && Mail.isSent(kept.id());
    if (ordered && !isOldest(kept)) delivery.halt(id.key());
    if (ordered && delivery.isHalted(id.key(), kept.id())) return true;
    older.remove(kept.id());
    return false;
  }

  private boolean isOldest(Kept<?> kept) {
    while (!older.isEmpty()) {
      String first = older.getFirst();
      if (first.equals(kept.id())) return true;
      if (delivery.store().due(id, first).isPresent() && delivery.isReadable(id.key(), first)) return false;
      older.removeFirst();
    }
    return true;
  }
}
