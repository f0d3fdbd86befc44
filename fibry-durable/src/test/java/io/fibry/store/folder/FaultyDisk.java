package io.fibry.store.folder;

import io.fibry.support.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A disk that fails, or holds, when the test asks for it. */
final class FaultyDisk implements InvocationHandler {
  private final StorageDirectory files;
  // written by the test, read by the store's threads; empty for none
  private volatile String failing = "";
  private volatile Throwable failure;
  private volatile String held = "";
  private final CountDownLatch holds = new CountDownLatch(1);
  private final CountDownLatch open = new CountDownLatch(1);

  FaultyDisk(Path folder) throws IOException {
    files = FileDisk.open(folder);
  }

  StorageDirectory disk() {
    return (StorageDirectory) Proxy.newProxyInstance(StorageDirectory.class.getClassLoader(),
        new Class<?>[] {StorageDirectory.class}, this);
  }

  /** When it answers, the store has made this file. */
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

  /** Lets this operation fail from now on. */
  void fail(String operation) {
    fail(operation, new IOException("made up, for a test"));
  }

  void fail(String operation, Throwable why) {
    failure = why;
    failing = operation;
  }

  void heal() {
    failing = "";
  }

  /** Lets this operation wait from now on. */
  void hold(String operation) {
    held = operation;
  }

  void awaitHeld() {
    Patience.await(holds);
  }

  void cleanUp() {
    open.countDown();
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals(failing)) throw failure;
    if (method.getName().equals(held)) {
      holds.countDown();
      open.await();
    }
    try {
      return method.invoke(files, arguments);
    } catch (InvocationTargetException failure) {
      throw failure.getCause();
    }
  }
}
