package io.fibry.jdbc;

import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Threads that read for others, which wait. So an interrupt ends a wait, and no connection.
 * Thread-safe.
 */
final class ReaderPool implements AutoCloseable {
  private static final int IDLE_SECONDS = 10; // seconds

  private final String store; // its name
  private final int limitMillis;
  private final ThreadPoolExecutor threads;

  /** @param limitMillis in milliseconds; after that a reading fails, even if it has not begun */
  ReaderPool(String store, int count, int limitMillis) {
    this.store = store;
    this.limitMillis = limitMillis;
    this.threads = new ThreadPoolExecutor(count, count, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("fibry-jdbc-reader-", 1).factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * An interrupted thread gets no answer, however fast it would be.
   *
   * @param what is read, for errors
   */
  <T> T read(Object what, Callable<T> reading) throws InterruptedException {
    if (Thread.interrupted()) throw new InterruptedException();
    var task = new FutureTask<>(reading);
    try {
      threads.execute(task);
      return task.get(limitMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      throw new StoreClosedException(store + " is closed");
    } catch (TimeoutException late) {
      throw new StoreReadException(what + " could not be read from " + store + " within " + limitMillis + " ms", late);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof StoreException known) throw known;
      throw new StoreReadException(
          what + " could not be read from " + store + ": " + Lines.message(failed.getCause()), failed.getCause());
    } finally {
      task.cancel(false); // where no thread has begun it, and nobody waits
    }
  }

  /** Runs code on one of the threads, some time; not if they have ended. */
  void execute(Runnable code) {
    try {
      threads.execute(code);
    } catch (RejectedExecutionException closed) {
      // the result is not needed
    }
  }

  /** Waits for what is being read. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      threads.awaitTermination(limitMillis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupt) {
      Thread.currentThread().interrupt();
    }
  }
}
