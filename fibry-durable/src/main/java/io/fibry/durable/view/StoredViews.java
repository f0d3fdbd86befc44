package io.fibry.durable.view;

import io.fibry.durable.EventView;
import io.fibry.durable.storage.StoreRefusals;
import io.fibry.durable.storage.StoreRegistry;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.store.spi.ViewOffset;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;

/** Reads and writes the offsets of named views, for operators and for the views themselves. */
public final class StoredViews {
  private StoredViews() {}

  /** The stored offset of a view, and the life that may change the offset. */
  record ViewState(Store.ActorId id, long life, long number, String offset, boolean isKnown) {

    /** Begins a life, so that no other actor of the view, in any process, can store offsets. */
    static ViewState load(StoreBackend store, Store.ActorId id) {
      var loaded = store.load(id);
      var offset = loaded.bodies().isEmpty() ? null : ViewOffset.of(id, loaded.bodies().getLast()).orElse(null);
      return new ViewState(id, loaded.life(), loaded.lastTurn(), offset == null ? "" : offset.offset(), offset != null);
    }

    /** Stores the next turn, and returns the state after it. */
    ViewState storeNext(StoreBackend store, byte[] body) throws InterruptedException, ExecutionException {
      var turn = new StoreBackend.Turn(id, life, number + 1, store.clock().instant(), true, body, List.of(), List.of());
      store.append(turn).toCompletableFuture().get();
      var viewOffset = ViewOffset.of(id, body);
      return new ViewState(id, life, number + 1, viewOffset.map(ViewOffset::offset).orElse(""), viewOffset.isPresent());
    }

    /** Stores the view's name if the store does not know it, so that the store keeps events. */
    ViewState ensureKnown(StoreBackend store) {
      return isKnown ? this : storeNow(store, new byte[0]);
    }

    private ViewState storeNow(StoreBackend store, byte[] body) {
      try {
        return storeNext(store, body);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted while view '" + id.key() + "' was stored at " + store);
      } catch (ExecutionException refusal) {
        throw StoreRefusals.causeOf(refusal);
      }
    }
  }

  static void forgetView(StoreBackend store, Store.ActorId id) {
    StoreRegistry.checkFree(store, id);
    var viewState = ViewState.load(store, id);
    try {
      if (viewState.isKnown) viewState.storeNow(store, ViewOffset.forgottenBody());
    } finally {
      store.endLife(id, viewState.life);
    }
  }

  public static List<EventView.NamedView> of(Store store) {
    var backend = StoreBackend.of(store);
    var lastTurns = new LinkedHashMap<String, StoreBackend.StoredTurn>();
    try {
      try (var history = backend.history(StoreBackend.VIEWS, "")) {
        for (var page = history.poll(); !page.isEmpty(); page = history.poll())
          for (var turn : page) lastTurns.putLast(turn.key(), turn);
      }
      var timeByOffset = new LinkedHashMap<ViewOffset, Instant>();
      for (var turn : lastTurns.values()) ViewOffset.of(new Store.ActorId(StoreBackend.VIEWS, turn.key()), turn.body())
          .ifPresent(view -> timeByOffset.put(view, turn.at()));
      return toNamedViews(backend, timeByOffset);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the views of " + store + " were read");
    }
  }

  private static List<EventView.NamedView> toNamedViews(StoreBackend store, Map<ViewOffset, Instant> timeByOffset)
      throws InterruptedException {
    var namedViews = new ArrayList<EventView.NamedView>();
    for (var entry : timeByOffset.entrySet()) {
      var view = entry.getKey();
      try (var history = store.history(view.kind(), view.offset())) {
        namedViews.add(new EventView.NamedView(view.kind(), view.name(), entry.getValue(), !history.poll().isEmpty()));
      }
    }
    return List.copyOf(namedViews);
  }
}
