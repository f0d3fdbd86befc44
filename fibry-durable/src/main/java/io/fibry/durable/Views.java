package io.fibry.durable;

import io.fibry.store.Store;
import io.fibry.store.ViewPlace;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;

/** What a store knows of named views: for operators, and for the views themselves. */
final class Views {
  private Views() {}

  /** Where a view stands, and the life that may change that. */
  record Standing(Store.Id id, long life, long number, String place, boolean known) {

    /** Ends the life before: another actor of this view, perhaps elsewhere, notes nothing more. */
    static Standing load(Store store, Store.Id id) {
      var loaded = store.load(id);
      var last = loaded.bodies().isEmpty() ? null : ViewPlace.of(id, loaded.bodies().getLast()).orElse(null);
      return new Standing(id, loaded.life(), loaded.last(), last == null ? "" : last.place(), last != null);
    }

    /** The next turn is stored. */
    Standing note(Store store, byte[] body) throws InterruptedException, ExecutionException {
      var turn = new Store.Turn(id, life, number + 1, store.clock().instant(), true, body, List.of(), List.of());
      store.append(turn).toCompletableFuture().get();
      var stored = ViewPlace.of(id, body);
      return new Standing(id, life, number + 1, stored.map(ViewPlace::place).orElse(""), stored.isPresent());
    }

    /** A view is known before it reads, so that no event goes that it has not seen. */
    Standing known(Store store) {
      return known ? this : noteNow(store, new byte[0]);
    }

    private Standing noteNow(Store store, byte[] body) {
      try {
        return note(store, body);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        throw new CancellationException("interrupted while view '" + id.key() + "' was noted at " + store);
      } catch (ExecutionException refused) {
        throw Turns.cause(refused);
      }
    }
  }

  static void forget(Store store, Store.Id id) {
    Home.checkFree(store, id);
    var standing = Standing.load(store, id);
    try {
      if (standing.known) standing.noteNow(store, ViewPlace.forgotten());
    } finally {
      store.leave(id, standing.life);
    }
  }

  static List<Follow.View> of(Store store) {
    Objects.requireNonNull(store, "store");
    var last = new LinkedHashMap<String, Store.Past>();
    try {
      try (var history = store.history(Store.VIEWS, "")) {
        for (var page = history.now(); !page.isEmpty(); page = history.now())
          for (var past : page) last.putLast(past.key(), past);
      }
      var views = new LinkedHashMap<ViewPlace, Instant>();
      for (var past : last.values()) ViewPlace.of(new Store.Id(Store.VIEWS, past.key()), past.body())
          .ifPresent(view -> views.put(view, past.at()));
      return withStanding(store, views);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
      throw new CancellationException("interrupted while the views of " + store + " were read");
    }
  }

  private static List<Follow.View> withStanding(Store store, Map<ViewPlace, Instant> views)
      throws InterruptedException {
    var all = new ArrayList<Follow.View>();
    for (var view : views.entrySet()) {
      var place = view.getKey();
      try (var history = store.history(place.kind(), place.place())) {
        all.add(new Follow.View(place.kind(), place.name(), view.getValue(), !history.now().isEmpty()));
      }
    }
    return List.copyOf(all);
  }
}
