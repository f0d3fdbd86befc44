package io.fibry.net;

import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;

/** Reads what a client sends, one by one. Belongs to one thread. */
abstract class ClientReader<T> implements Iterable<T> {
  final ClientInput in;
  final int maxLength; // bytes

  ClientReader(ClientInput in, int longest) {
    this.in = in;
    this.maxLength = longest;
  }

  /** Waits for the next one; null at the end. */
  abstract T read() throws IOException;

  /** For texts, as what the handler is at. */
  abstract Object describe(T one);

  @Override
  public final Iterator<T> iterator() {
    return new Iterator<>() {
      private T next; // null: not read yet
      private boolean handling; // the one before
      private boolean ended;

      @Override
      public boolean hasNext() {
        if (next != null) return true;
        if (ended) return false;
        if (handling) in.socket.step.end();
        handling = false;
        try {
          next = read();
        } catch (IOException failure) {
          ended = true;
          throw new UncheckedIOException(Lines.message(failure), failure);
        }
        ended = next == null;
        if (ended) in.socket.step.beginUncounted("the end of " + in);
        return !ended;
      }

      @Override
      public T next() {
        if (!hasNext()) throw new NoSuchElementException("the client has ended its stream; call hasNext() first");
        var one = next;
        next = null;
        handling = true;
        in.socket.step.begin(describe(one));
        return one;
      }
    };
  }
}
