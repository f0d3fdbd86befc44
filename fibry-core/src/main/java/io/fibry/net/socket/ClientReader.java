package io.fibry.net.socket;

import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Iterates over the items that a client sends: lines, frames, messages or values. Used by one
 * thread.
 */
public abstract class ClientReader<T> implements Iterable<T> {
  public final ClientInput in;
  public final int maxLength; // bytes

  public ClientReader(ClientInput in, int maxLength) {
    this.in = in;
    this.maxLength = maxLength;
  }

  /** Waits for the next item. Returns null at the end. */
  protected abstract T read() throws IOException;

  /**
   * Returns an object whose {@code toString()} describes the item. Dumps and warnings show it as
   * the present work of the conversation.
   */
  protected abstract Object describe(T item);

  @Override
  public final Iterator<T> iterator() {
    return new Iterator<>() {
      private T next; // null until it is read
      private boolean isHandling; // whether the handler handles the item that next() returned last
      private boolean hasEnded;

      @Override
      public boolean hasNext() {
        if (next != null) return true;
        if (hasEnded) return false;
        if (isHandling) in.socket.step.end();
        isHandling = false;
        try {
          next = read();
        } catch (IOException failure) {
          hasEnded = true;
          throw new UncheckedIOException(Lines.message(failure), failure);
        }
        hasEnded = next == null;
        if (hasEnded) in.socket.step.beginUncounted("the end of " + in);
        return !hasEnded;
      }

      @Override
      public T next() {
        if (!hasNext())
          throw new NoSuchElementException("no more items can be read from the client; call hasNext() first");
        var item = next;
        next = null;
        isHandling = true;
        in.socket.step.beginMessage(describe(item));
        return item;
      }
    };
  }
}
