package io.fibry.store.folder;

import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A disk on which a test can make an operation fail or wait. */
public final class FaultyDisk {
  private final StorageDirectory files;
  // written by the test, read by the store's threads; an empty name means no operation
  private volatile String failingOperation = "";
  private volatile Throwable failure;
  private volatile String heldOperation = "";
  private final CountDownLatch heldSignal = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);

  public FaultyDisk(Path folder) throws IOException {
    files = StorageDirectory.open(folder);
  }

  public StorageDirectory disk() {
    return Intercepted.of(StorageDirectory.class, files, this::handle);
  }

  /** Waits until the store has created this file. */
  void awaitFile(String name) {
    Patience.eventually("there is no " + name, () -> has(name));
  }

  private boolean has(String name) {
    try {
      return files.names().contains(name);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Lets this operation fail from now on, until {@link #heal}. */
  public void fail(String operation) {
    fail(operation, new IOException("made up, for a test"));
  }

  public void fail(String operation, Throwable newFailure) {
    failure = newFailure;
    failingOperation = operation;
  }

  public void heal() {
    failingOperation = "";
  }

  /** Lets this operation wait from now on, until {@link #release}. */
  void hold(String operation) {
    heldOperation = operation;
  }

  void awaitHeld() {
    Patience.await(heldSignal);
  }

  void release() {
    gate.countDown();
  }

  private Object handle(Method method, Object[] arguments, Intercepted.Call call) throws Throwable {
    if (method.getName().equals(failingOperation)) throw failure;
    if (method.getName().equals(heldOperation)) {
      heldSignal.countDown();
      gate.await();
    }
    return call.pass();
  }
}
