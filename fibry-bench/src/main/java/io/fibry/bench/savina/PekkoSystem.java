package io.fibry.bench.savina;

import com.typesafe.config.ConfigFactory;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Pekko typed as its documentation recommends: one actor system in the process, the default
 * dispatcher (a fork-join pool of at least 8 threads, 5 messages a turn), and the default unbounded
 * mailbox. Only the logging of dead letters is off. Behaviors switch over a sealed protocol, which
 * is cheaper than {@code onMessage} chains.
 */
public final class PekkoSystem {
  private static final String CONFIG =
      "pekko { log-dead-letters = off, log-dead-letters-during-shutdown = off, loglevel = WARNING, "
          + "stdout-loglevel = WARNING, daemonic = on, jvm-shutdown-hooks = off }";
  private static final ActorSystem<Command> SYSTEM = ActorSystem.create(Behaviors.<Command>receive(PekkoSystem::guard),
      "savina", ConfigFactory.parseString(CONFIG).withFallback(ConfigFactory.load()));

  private PekkoSystem() {}

  private sealed interface Command {}

  private record Spawn<M>(Behavior<M> behavior, CompletableFuture<ActorRef<M>> spawned) implements Command {
    void in(ActorContext<Command> context) {
      spawned.complete(context.spawnAnonymous(behavior));
    }
  }

  private record Stop(ActorRef<?> actor, CompletableFuture<Void> ended) implements Command {}

  private record Ended(CompletableFuture<Void> ended) implements Command {}

  private static Behavior<Command> guard(ActorContext<Command> context, Command command) {
    switch (command) {
      case Spawn<?> spawn -> spawn.in(context);
      case Stop stop -> {
        context.watchWith(stop.actor, new Ended(stop.ended));
        context.stop(stop.actor);
      }
      case Ended end -> end.ended.complete(null);
    }
    return Behaviors.same();
  }

  public static <M> ActorRef<M> spawn(Behavior<M> behavior) {
    var spawned = new CompletableFuture<ActorRef<M>>();
    SYSTEM.tell(new Spawn<>(behavior, spawned));
    return spawned.join();
  }

  /** Stops the actor with its children, and waits for the end. */
  public static void stop(ActorRef<?> actor) {
    var ended = new CompletableFuture<Void>();
    SYSTEM.tell(new Stop(actor, ended));
    ended.join();
  }
}
