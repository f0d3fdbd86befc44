package io.fibry.nats.store;

import io.fibry.store.spi.PendingWrite;
import io.fibry.store.spi.StoreBackend;

/**
 * Holds the classes of the tasks that a store does for one actor. A turn or a snapshot is a plain
 * {@link PendingWrite}.
 */
public final class StoreTasks {
  private StoreTasks() {}

  /** Begins a life, and reads the stored state. */
  public static final class LoadTask extends PendingWrite<StoreBackend.LoadedActor> {
    public LoadTask() {
      super(0);
    }
  }

  /** Begins a life whose first turn follows the turn {@code lastTurn}. */
  public static final class BeginLifeTask extends PendingWrite<Long> {
    private final long lastTurn;

    public BeginLifeTask(long lastTurn) {
      super(0);
      this.lastTurn = lastTurn;
    }

    long lastTurn() {
      return lastTurn;
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
