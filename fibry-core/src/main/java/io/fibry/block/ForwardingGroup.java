package io.fibry.block;

import io.fibry.Exitable;
import io.fibry.RequestException;
import io.fibry.spi.ForwardingExitable;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;

/**
 * Base class of blocks that have members. A member is an actor that ends before the block. A
 * handler of a member must not wait for the end of the block, because the block waits for the end
 * of the member.
 */
public abstract class ForwardingGroup<B extends Exitable> extends ForwardingExitable<B> {

  /** Ends the members, and waits until they have ended. */
  protected abstract void drain();

  /** Throws an {@code AskCycleException} if the current thread is in a handler of a member. */
  protected abstract void refuseCycle();

  /** {@return whether the current thread is in a handler of a member} */
  protected abstract boolean isInMember();

  @Override
  public void waitForExit() {
    refuseCycle();
    super.waitForExit();
  }

  @Override
  public boolean waitForExit(Duration limit) {
    refuseCycle();
    return super.waitForExit(limit);
  }

  @Override
  public void close() {
    sendPoisonPill();
    if (!isInMember()) super.waitForExit();
  }

  @Override
  public B closeOnExit(AutoCloseable... resources) {
    return super.closeOnExit(Stream.of(Objects.requireNonNull(resources, "resources"))
        .map(resource -> new SharedResource(this, Objects.requireNonNull(resource, "a resource")))
        .toArray(AutoCloseable[]::new));
  }

  /** A resource that is closed after all members have ended, because they may use it. */
  @SuppressWarnings("try") // its close may throw any exception
  private record SharedResource(ForwardingGroup<?> group, AutoCloseable resource) implements AutoCloseable {
    @Override
    public void close() throws Exception {
      group.drain();
      resource.close();
    }

    @Override
    public String toString() {
      return Lines.text(resource);
    }
  }

  /** Waits for the end of a member, even if the current thread is interrupted. */
  protected static void awaitEnd(Exitable member) {
    while (true) {
      try {
        member.waitForExit();
        return;
      } catch (CancellationException interrupt) {
        // A kill of the block, or the close of its scope, has interrupted this thread, and
        // interrupts the member, too. This thread waits again, because the block must end after all
        // its members.
        Thread.interrupted();
      } catch (RequestException cycle) {
        // the handler of the member waits for this block or its scope, so a wait for the member
        // would never end
        return;
      }
    }
  }
}
