package io.fibry.engine.jvm;

/**
 * Code that does nothing. Classes of the engine use no lambda while the first actor starts, because
 * the JVM links a lambda more slowly than it loads a class.
 */
public final class NoAction implements Runnable {
  @Override
  public void run() {}
}
