package io.fibry.jdbc;

import io.fibry.store.StoreClosedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.text.Lines;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Threads that read for callers, which wait for the results. An interrupt of a caller ends only the
 * wait, and does not break a connection. Thread-safe.
 */
final class ReaderThreads implements AutoCloseable {
  private static final int IDLE_SECONDS = 10;

  private final String storeName;
  private final int limitMillis;
  private final ThreadPoolExecutor threads;

  /** @param limitMillis milliseconds after which a read fails, even if it has not begun */
  ReaderThreads(String storeName, int count, int limitMillis) {
    this.storeName = storeName;
    this.limitMillis = limitMillis;
    this.threads = new ThreadPoolExecutor(count, count, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name("fibry-jdbc-reader-", 1).factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Reads on one of the threads. An interrupted caller gets no result.
   *
   * @param subject the thing that is read, for exceptions
   */
  <T> T read(Object subject, Callable<T> operation) throws InterruptedException {
    var task = new FutureTask<>(operation);
    return read(subject, task, task);
  }

  /**
   * Runs a task on one of the threads, and waits for a result, which this task or another one sets.
   * If the caller gets no result, the result is cancelled.
   */
  <T> T read(Object subject, Future<T> result, Runnable task) throws InterruptedException {
    try {
      if (Thread.interrupted()) throw new InterruptedException();
      threads.execute(task);
      return result.get(limitMillis, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      throw closedException();
    } catch (TimeoutException timeout) {
      throw new StoreReadException(
          subject + " could not be read from " + storeName + " within " + limitMillis + " ms", timeout);
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof StoreException storeFailure) throw storeFailure;
      throw new StoreReadException(
          subject + " could not be read from " + storeName + ": " + Lines.message(failure.getCause()),
          failure.getCause());
    } finally {
      result.cancel(false); // the caller no longer waits, so no thread should begin the task
    }
  }

  /** Runs code on one of the threads later. Returns false if the pool is closed. */
  boolean execute(Runnable code) {
    try {
      threads.execute(code);
      return true;
    } catch (RejectedExecutionException closed) {
      return false;
    }
  }

  StoreClosedException closedException() {
    return new StoreClosedException(storeName + " is closed");
  }

  /** Ends the threads, and waits for running reads up to the limit. */
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
