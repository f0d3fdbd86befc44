package io.fibry.spring.monitoring;

import static io.fibry.spring.monitoring.HealthReport.DOWN;
import static io.fibry.spring.monitoring.HealthReport.OUT_OF_SERVICE;
import static io.fibry.spring.monitoring.HealthReport.UP;

import io.fibry.store.Store;
import io.fibry.store.StoreException;
import io.fibry.store.folder.FolderStore;
import io.fibry.store.folder.FolderStore.Health;
import io.fibry.text.Lines;
import java.util.LinkedHashMap;
import java.util.Map;

/** The health of all stores: the worst of their statuses, and details by the name of the bean. */
final class StoreHealth {
  private StoreHealth() {}

  static HealthReport of(Map<String, Store> stores) {
    var reports = new LinkedHashMap<String, HealthReport>();
    stores.forEach((name, store) -> reports.put(name, of(store)));
    return worst(reports);
  }

  static HealthReport worst(Map<String, HealthReport> reports) {
    var statuses = reports.values().stream().map(HealthReport::status).toList();
    var details = new LinkedHashMap<String, Object>();
    reports.forEach((name, report) -> details.put(name, report.details()));
    return new HealthReport(statuses.contains(DOWN) ? DOWN : statuses.contains(OUT_OF_SERVICE) ? OUT_OF_SERVICE : UP,
        details);
  }

  private static HealthReport of(Store store) {
    return store instanceof FolderStore folder ? of(folder.health()) : ofTestRead(store);
  }

  static HealthReport of(Health health) {
    return new HealthReport(health.isBroken() ? DOWN : health.isFull() ? OUT_OF_SERVICE : UP, details(health));
  }

  /** Reads once from the store, to see whether its database or servers can be reached. */
  private static HealthReport ofTestRead(Store store) {
    try {
      store.hasUnfinishedCopy();
      return new HealthReport(UP, Map.of("store", store.toString()));
    } catch (StoreException failure) {
      return new HealthReport(DOWN, Map.of("store", store.toString(), "why", Lines.message(failure)));
    }
  }

  private static Map<String, Object> details(Health health) {
    var details = new LinkedHashMap<String, Object>();
    details.put("turns", health.turns());
    details.put("refusedTurns", health.refusedTurns());
    details.put("pendingWrites", health.pendingWrites());
    details.put("actors", health.actors());
    details.put("pendingMessages", health.pendingMessages());
    details.put("dueMessages", health.dueMessages());
    details.put("parkedMessages", health.parkedMessages());
    details.put("bytes", health.bytes());
    details.put("lastSync", health.syncs().last().toString());
    if (!health.tornFiles().isEmpty()) details.put("tornFiles", health.tornFiles());
    if (health.isFull()) details.put("why", "the disk is full; free some space, and the store continues");
    if (health.isBroken()) details.put("why", "the disk failed; repair or replace it, and restart the application");
    return details;
  }
}
