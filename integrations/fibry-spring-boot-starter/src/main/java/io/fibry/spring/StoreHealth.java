package io.fibry.spring;

import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;
import io.fibry.text.Lines;
import java.util.LinkedHashMap;
import java.util.Map;

/** The health of all stores: the worst of their statuses, and details by the name of the bean. */
record StoreHealth(String status, Map<String, Object> details) {
  private static final String UP = "UP";
  private static final String FULL = "OUT_OF_SERVICE";
  private static final String BROKEN = "DOWN";
  private static final Store.ActorId PROBE_ACTOR = new Store.ActorId("health", "nobody");

  static StoreHealth check(Map<String, Store> stores) {
    var healths = new LinkedHashMap<String, StoreHealth>();
    stores.forEach((name, store) -> healths.put(name, check(store)));
    return of(healths);
  }

  static StoreHealth of(Map<String, StoreHealth> stores) {
    var statuses = stores.values().stream().map(StoreHealth::status).toList();
    var details = new LinkedHashMap<String, Object>();
    stores.forEach((name, store) -> details.put(name, store.details));
    return new StoreHealth(statuses.contains(BROKEN) ? BROKEN : statuses.contains(FULL) ? FULL : UP, details);
  }

  private static StoreHealth check(Store store) {
    return store instanceof FolderStore folder ? of(folder.health()) : ofRead(store);
  }

  static StoreHealth of(Health health) {
    return new StoreHealth(health.isBroken() ? BROKEN : health.isFull() ? FULL : UP, details(health));
  }

  /** Reads once from the store, to see whether its database or servers can be reached. */
  private static StoreHealth ofRead(Store store) {
    try {
      store.dueTime(PROBE_ACTOR, "health");
      return new StoreHealth(UP, Map.of("store", store.toString()));
    } catch (StoreException failure) {
      return new StoreHealth(BROKEN, Map.of("store", store.toString(), "why", Lines.message(failure)));
    }
  }

  private static Map<String, Object> details(Health health) {
    var details = new LinkedHashMap<String, Object>();
    details.put("turns", health.turns());
    details.put("refusedTurns", health.refusedTurns());
    details.put("pendingWrites", health.pendingWrites());
    details.put("actors", health.actors());
    details.put("pendingMessages", health.pendingMessages());
    details.put("parkedMessages", health.parkedMessages());
    details.put("bytes", health.bytes());
    details.put("lastSync", health.syncs().last().toString());
    if (!health.tornFiles().isEmpty()) details.put("tornFiles", health.tornFiles());
    if (health.isFull()) details.put("why", "the disk is full; free some space, and the store continues");
    if (health.isBroken()) details.put("why", "the disk failed; repair or replace it, and restart the application");
    return details;
  }
}
