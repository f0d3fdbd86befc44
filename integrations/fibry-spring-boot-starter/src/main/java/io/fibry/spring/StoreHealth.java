package io.fibry.spring;

import io.fibry.store.Store;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;
import java.util.LinkedHashMap;
import java.util.Map;

/** What health shows of stores, each by the name of its bean. The worst status counts. */
record StoreHealth(String status, Map<String, Object> details) {
  private static final String UP = "UP";
  private static final String FULL = "OUT_OF_SERVICE";
  private static final String BROKEN = "DOWN";

  static StoreHealth of(Map<String, Health> stores) {
    boolean full = stores.values().stream().anyMatch(Health::full);
    boolean broken = stores.values().stream().anyMatch(Health::broken);
    var details = new LinkedHashMap<String, Object>();
    stores.forEach((name, health) -> details.put(name, details(health)));
    return new StoreHealth(broken ? BROKEN : full ? FULL : UP, details);
  }

  /** Of those in folders: others have none. */
  static Map<String, Health> healths(Map<String, Store> stores) {
    var healths = new LinkedHashMap<String, Health>();
    stores.forEach((name, one) -> {
      if (one instanceof FolderStore store) healths.put(name, store.health());
    });
    return healths;
  }

  private static Map<String, Object> details(Health health) {
    var details = new LinkedHashMap<String, Object>();
    details.put("turns", health.turns());
    details.put("refused", health.refused());
    details.put("underWay", health.underWay());
    details.put("actors", health.actors());
    details.put("waiting", health.waiting());
    details.put("aside", health.aside());
    details.put("bytes", health.bytes());
    details.put("lastForce", health.forces().last().toString());
    if (!health.torn().isEmpty()) details.put("torn", health.torn());
    if (health.full()) details.put("why", "the disk has no room; free some, and the store goes on");
    if (health.broken()) details.put("why", "the disk failed; see to it, and start again");
    return details;
  }
}
