package io.fibry.bench.durable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;

/**
 * One platform thread that gives a store all that waits, in one batch: what a {@code FolderStore}
 * has of its own.
 */
final class GroupCommitter implements Appends.Appended {
  private static final int MOST = 8_192; // as there

  private record Waiting(EmbeddedStore.Entry entry, CompletableFuture<Void> stored) {}

  private final EmbeddedStore store;
  private final BlockingQueue<Waiting> waiting = new LinkedTransferQueue<>();
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
    var one = new Waiting(entry, new CompletableFuture<>());
    waiting.add(one);
    one.stored.join();
  }

  private void run() {
    var batch = new ArrayList<Waiting>();
    try {
      while (true) {
        batch.clear();
        batch.add(waiting.take());
        waiting.drainTo(batch, MOST - 1);
        write(batch);
      }
    } catch (InterruptedException closed) {
      // nothing waits
    }
  }

  private void write(List<Waiting> batch) {
    try {
      store.commit(batch.stream().map(Waiting::entry).toList());
    } catch (Throwable failure) { // an asker that is not told would wait for ever
      for (var one : batch) one.stored.completeExceptionally(failure);
      return;
    }
    for (var one : batch) one.stored.complete(null);
  }

  @Override
  public long count() throws Exception {
    return store.count();
  }

  @Override
  public void close() {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException later) {
        interrupted = true;
      }
    }
    store.close();
    if (interrupted) Thread.currentThread().interrupt();
  }
}
