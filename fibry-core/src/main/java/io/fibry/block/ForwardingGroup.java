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
 * A fronted block that has members, actors which end before it. A handler of a member cannot wait
 * for the block, which waits for it.
 */
public abstract class ForwardingGroup<B extends Exitable> extends ForwardingExitable<B> {

  /** Ends the members and waits for them. */
  protected abstract void drain();

  /** Throws in a handler of a member. */
  protected abstract void refuseCycle();

  /** {@return whether this is a handler of a member} */
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

  /** A resource that members may use until they have ended. */
  @SuppressWarnings("try") // it may throw anything
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

  /** Waits for the end of a member, also in an interrupted thread. */
  protected static void awaitEnd(Exitable member) {
    while (true) {
      try {
        member.waitForExit();
        return;
      } catch (CancellationException interrupt) {
        // by a kill, also of the front, or by a closing scope, which will interrupt the member
        Thread.interrupted();
      } catch (RequestException ring) {
        return; // its handler waits for the block, or for the scope, which goes first
      }
    }
  }
}
