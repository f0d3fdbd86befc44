package io.fibry.engine.jvm;

import io.fibry.ActorBuilder;
import java.time.Duration;

/**
 * A plugin that has its own class loader. It creates an actor that refers to classes of the plugin,
 * sends to the actor, and ends it.
 */
public final class LeakPlugin implements Runnable {
  private record Note(int number) {}

  private final ActorBuilder<Object> builder;

  /**
   * Creates the plugin. Public, because the caller has another class loader, and is therefore in
   * another package at run time.
   */
  public LeakPlugin(ActorBuilder<Object> builder) {
    this.builder = builder;
  }

  @Override
  public void run() {
    var actor = builder.initialState(() -> new Note(0)).newActorWithReturn((Note state, Object message) -> message);
    actor.sendMessage(new Note(1));
    actor.sendMessageLater(new Note(2), Duration.ofHours(1));
    actor.ask(new Note(3));
    actor.sendMessageReturn(new Note(4)).cancel(true);
    actor.closeOnExit(() -> new Note(5).hashCode());
    actor.sendMessageReturn(new Note(6)).thenApply(note -> new Note(7)).join();
    actor.close();
    actor.sendMessage(new Note(8));
  }
}
