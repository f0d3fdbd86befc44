package io.fibry.bench.durable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;

/**
 * A platform thread that commits all pending entries to a store as one batch. A
 * {@code FolderStore} has such a thread of its own.
 */
final class GroupCommitter implements Appends.AppendStore {
  private static final int MAX_BATCH = 8_192; // as many as a FolderStore writes at once

  private record PendingEntry(EmbeddedStore.Entry entry, CompletableFuture<Void> stored) {}

  private final EmbeddedStore store;
  private final BlockingQueue<PendingEntry> pending = new LinkedTransferQueue<>();
  private final Thread thread = Thread.ofPlatform().daemon().name("committer").unstarted(this::run);

  private GroupCommitter(EmbeddedStore store) {
    this.store = store;
  }

  static GroupCommitter start(EmbeddedStore store) {
    var committer = new GroupCommitter(store);
    committer.thread.start();
    return committer;
  }

  @Override
  public void append(EmbeddedStore.Entry entry) {
    var pendingEntry = new PendingEntry(entry, new CompletableFuture<>());
    pending.add(pendingEntry);
    pendingEntry.stored.join();
  }

  private void run() {
    var batch = new ArrayList<PendingEntry>();
    try {
      while (true) {
        batch.clear();
        batch.add(pending.take());
        pending.drainTo(batch, MAX_BATCH - 1);
        write(batch);
      }
    } catch (InterruptedException interruption) {
      // closed: no entry is pending
    }
  }

  private void write(List<PendingEntry> batch) {
    try {
      store.commit(batch.stream().map(PendingEntry::entry).toList());
    } catch (Throwable failure) { // reported, so that no asker waits forever
      for (var pendingEntry : batch) pendingEntry.stored.completeExceptionally(failure);
      return;
    }
    for (var pendingEntry : batch) pendingEntry.stored.complete(null);
  }

  @Override
  public long count() throws Exception {
    return store.count();
  }

  @Override
  public void close() {
    thread.interrupt();
    boolean isInterrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException interruption) {
        isInterrupted = true;
      }
    }
    store.close();
    if (isInterrupted) Thread.currentThread().interrupt();
  }
}
