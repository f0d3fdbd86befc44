package io.fibry.jdbc;

import io.fibry.store.spi.HistoryCursor;
import io.fibry.store.spi.StoreBackend;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * Reads the turns of a kind, page by page. It polls, because other processes store turns, too, and
 * because turns are visible only when no older transaction runs.
 */
final class TableHistory extends HistoryCursor {
  private final TableStore store;
  private final String kind;
  private TableOffset lastOffset; // of the turn that was returned last; before the first turn, the start offset
  private boolean isChecked; // a check found no turns of another database cluster

  TableHistory(TableStore store, String kind, TableOffset startOffset, Collection<TableHistory> openHistories,
      Duration pollInterval) {
    super("the history of kind '" + kind + "' in " + store, openHistories, pollInterval);
    this.store = store;
    this.kind = kind;
    this.lastOffset = startOffset;
  }

  @Override
  public List<StoreBackend.StoredTurn> poll() throws InterruptedException {
    checkOpen();
    if (!isChecked) store.checkPositions(kind);
    isChecked = true;
    var turns = store.history(kind, lastOffset);
    if (!turns.isEmpty()) lastOffset = TableOffset.of(turns.getLast().offset(), kind);
    return turns;
  }
}
