package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.ViewOffset;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;

/** What a store knows of named views: for operators, and for the views themselves. */
final class StoredViews {
  private StoredViews() {}

  /** Where a view stands, and the life that may change that. */
  record ViewState(Store.ActorId id, long life, long number, String offset, boolean isKnown) {

    /** Ends the life before: another actor of this view, perhaps elsewhere, notes nothing more. */
    static ViewState load(Store store, Store.ActorId id) {
      var loaded = store.load(id);
      var last = loaded.bodies().isEmpty() ? null : ViewOffset.of(id, loaded.bodies().getLast()).orElse(null);
      return new ViewState(id, loaded.life(), loaded.lastTurn(), last == null ? "" : last.offset(), last != null);
    }

    /** The next turn is stored. */
    ViewState storeNext(Store store, byte[] body) throws InterruptedException, ExecutionException {
      var turn = new Store.Turn(id, life, number + 1, store.clock().instant(), true, body, List.of(), List.of());
      store.append(turn).toCompletableFuture().get();
      var stored = ViewOffset.of(id, body);
      return new ViewState(id, life, number + 1, stored.map(ViewOffset::offset).orElse(""), stored.isPresent());
    }

    /** A view is known before it reads, so that no event goes that it has not seen. */
    ViewState ensureKnown(Store store) {
      return isKnown ? this : storeNow(store, new byte[0]);
    }

    private ViewState storeNow(Store store, byte[] body) {
      try {
        return storeNext(store, body);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted while view '" + id.key() + "' was noted at " + store);
      } catch (ExecutionException refused) {
        throw TurnPipeline.refusalCause(refused);
      }
    }
  }

  static void forgetView(Store store, Store.ActorId id) {
    StoreRegistry.checkFree(store, id);
    var standing = ViewState.load(store, id);
    try {
      if (standing.isKnown) standing.storeNow(store, ViewOffset.forgotten());
    } finally {
      store.endLife(id, standing.life);
    }
  }

  static List<EventView.NamedView> of(Store store) {
    Objects.requireNonNull(store, "store");
    var last = new LinkedHashMap<String, Store.StoredTurn>();
    try {
      try (var history = store.history(Store.VIEWS, "")) {
        for (var page = history.poll(); !page.isEmpty(); page = history.poll())
          for (var past : page) last.putLast(past.key(), past);
      }
      var views = new LinkedHashMap<ViewOffset, Instant>();
      for (var past : last.values()) ViewOffset.of(new Store.ActorId(Store.VIEWS, past.key()), past.body())
          .ifPresent(view -> views.put(view, past.at()));
      return withStanding(store, views);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the views of " + store + " were read");
    }
  }

  private static List<EventView.NamedView> withStanding(Store store, Map<ViewOffset, Instant> views)
      throws InterruptedException {
    var all = new ArrayList<EventView.NamedView>();
    for (var view : views.entrySet()) {
      var place = view.getKey();
      try (var history = store.history(place.kind(), place.offset())) {
        all.add(new EventView.NamedView(place.kind(), place.name(), view.getValue(), !history.poll().isEmpty()));
      }
    }
    return List.copyOf(all);
  }
}
