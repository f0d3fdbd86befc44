package io.fibry.nats.store;

import io.fibry.store.spi.PendingWrite;
import io.fibry.store.spi.StoreBackend;

/**
 * The tasks of a store for one actor, in addition to the {@link PendingWrite} of a turn or a
 * snapshot.
 */
public final class StoreTask {
  private StoreTask() {}

  /** Begins a life, and reads the stored state. */
  public static final class LoadTask extends PendingWrite<StoreBackend.LoadedActor> {
    public LoadTask() {
      super(0);
    }
  }

  /** Begins a life whose first turn follows the turn {@code last}. */
  public static final class BeginLifeTask extends PendingWrite<Long> {
    private final long last;

    public BeginLifeTask(long last) {
      super(0);
      this.last = last;
    }

    long last() {
      return last;
    }
  }

  /** Ends a life. */
  public static final class EndLifeTask extends PendingWrite<Void> {
    private final long life;

    public EndLifeTask(long life) {
      super(0);
      this.life = life;
    }

    long life() {
      return life;
    }
  }

  /** Stores a message for the actor, unless too many are pending. */
  public static final class EnqueueTask extends PendingWrite.MessageWrite {
    private final Thread senderThread = Thread.currentThread();

    public EnqueueTask(StoreBackend.PendingMessage message, int maxPending) {
      super(message, maxPending);
    }

    /** Returns the thread that sent the message. */
    Thread senderThread() {
      return senderThread;
    }
  }
}
