package io.fibry.engine.jvm;

import java.util.function.Consumer;

/**
 * Code that does nothing. Classes of the engine use no lambda while the first actor starts, because
 * the JVM links a lambda more slowly than it loads a class.
 */
public final class NoAction<T> implements Runnable, Consumer<T> {
  @Override
  public void run() {}

  @Override
  public void accept(T ignored) {}
}
